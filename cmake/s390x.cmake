# Toolchain: Debian's cross compiler for s390x, which is big-endian (gcc-s390x-linux-gnu libc6-dev-s390x-cross). Programs are run by
# qemu-user; without it tests are compiled and not run. Headers that need no library of that machine, such as xxhash.h,
# are the build machine's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(QEMU_S390X NAMES qemu-s390x qemu-s390x-static)
if(QEMU_S390X)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU_S390X} -L /usr/s390x-linux-gnu)
endif()
