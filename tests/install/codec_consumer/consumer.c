#include <stdio.h>
#include <zmpi_reader.h>

int main(int argc, char **argv)
{
    struct zmpi_reader_file *file;
    struct zmpi_reader_error error;
    if (argc == 2 && zmpi_reader_open(argv[1], NULL, &file, &error) != ZMPI_OK)
        printf("%s\n", error.text);
    return 0;
}
