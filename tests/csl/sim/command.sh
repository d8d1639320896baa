#!/bin/bash
# command.sh ZMPI-CSL SOURCE: the command on files, its trace, and the picture of the counters.
set -euo pipefail
csl=$1 source=$2

fail() {
    echo "command.sh: $*" >&2
    exit 1
}

cat >layout.csl <<'END'
param W: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = W, .height = 1 });
param c: color = @get_color(0);
layout {
  @set_rectangle(W, 1);
  for (@range(u16, W)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .c = c, .first = x == 0 });
    @set_color_config(x, 0, c, .{ .routes = .{ .rx = .{ if (x == 0) RAMP else WEST }, .tx = .{ if (x + 1 < W) EAST else RAMP } } });
  }
  @export_name("A", [*]f32, true);
  @export_name("run", fn()void);
}
END
cat >pe.csl <<'END'
param memcpy_params;
param c: color;
param first: bool;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
var A = @zeros([4]f32);
var A_ptr: [*]f32 = &A;
const a = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> A[i] });
const q = @get_output_queue(2);
const out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 4, .output_queue = q }
                                 else .{ .extent = 4, .output_queue = q, .fabric_color = c });
const in = @get_dsd(fabin_dsd, .{ .extent = 4, .input_queue = @get_input_queue(2) });
fn run() void {
  if (first) { @fmuls(out, a, 2.0); } else { @fmovs(a, in); }
  sys_mod.unblock_cmd_stream();
}
comptime {
  @initialize_queue(@get_input_queue(2), .{ .color = c });
  if (@is_arch("wse3")) { @initialize_queue(q, .{ .color = c }); }
  @export_symbol(A_ptr, "A");
  @export_symbol(run);
}
END

for arch in wse2 wse3; do
    "$csl" run layout.csl --arch=$arch --params=W:2 --set=A:1.5,2.0,3.0,4.0 --trace=trace --launch=run \
        --print=A:4 --counters=counters >out
    grep -q '^PE(1,0) A: 3 4 6 8$' out || fail "the wrong values on $arch: $(cat out)"
    grep -q '^PE(0,0) A: 1.5 2 3 4$' out || fail "the sender's values have changed"
    [ "$(grep -c '"event":"hop","color":0,"to":"E"' trace)" = 4 ] || fail "the trace lacks hops"
done
"$csl" run layout.csl --params=W:2,c:5 --trace=trace --launch=run >out
grep -q '"event":"hop","color":5,"to":"E"' trace || fail "a color from the command line is not taken"
! "$csl" check layout.csl --params=W:2,c:24 2>error || fail "a number that is no color is taken"
"$source/scripts/bench/csl_heat.py" counters >heat.svg
[ "$(grep -c '<rect' heat.svg)" = 8 ] || fail "the picture lacks PEs"
"$csl" check layout.csl --params=W:2 >out
! "$csl" check layout.csl 2>error || fail "a missing parameter is not refused"
grep -q "layout.csl:1:1: param 'W' has no value" error || fail "no place in: $(cat error)"
# One PE more than the routes were made for: what the middle one gets has nowhere to go.
! "$csl" run layout.csl --params=W:3 --launch=run 2>error >out || fail "a deadlock is not seen"
grep -q 'deadlock at cycle .*PE(1,0): @fmovs of line 13 has 0 of 4 elements and waits for color 0' error ||
    fail "the deadlock is not explained: $(cat error)"

# Colors between the host and PEs: each PE adds 1 to what comes, at most as many as its queues hold; arguments of a launch.
cat >layout.csl <<'END'
const h2d: color = @get_color(4);
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 2, .MEMCPYH2D_1 = h2d, .MEMCPYD2H_1 = @get_color(5) });
layout {
  @set_rectangle(2, 2);
  for (@range(u16, 2)) |x| { for (@range(u16, 2)) |y| {
    @set_tile_code(x, y, "pe.csl", .{ .memcpy_params = memcpy.get_params(x) }); } }
  @export_name("A", [*]u16, true);
  @export_name("run", fn(u16)void);
}
END
cat >pe.csl <<'END'
param memcpy_params;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
const iq = @get_input_queue(2);
const oq = @get_output_queue(2);
const in = @get_dsd(fabin_dsd, .{ .extent = 100, .input_queue = iq, .fabric_color = sys_mod.MEMCPYH2D_1 });
const out = @get_dsd(fabout_dsd, .{ .extent = 100, .output_queue = oq, .fabric_color = sys_mod.MEMCPYD2H_1 });
var A = @zeros([3]u16);
var A_ptr: [*]u16 = &A;
const start = @get_local_task_id(8);
task main() void { @add16(out, in, A[1], .{ .async = true }); }
fn run(by: u16) void {
  A[1] += by;
  @activate(start);
  sys_mod.unblock_cmd_stream();
}
comptime {
  @bind_local_task(main, start);
  @comptime_assert(@is_same_type(@type_of(sys_mod.MEMCPYH2D_2), void));
  if (@is_arch("wse3")) {
    @initialize_queue(iq, .{ .color = sys_mod.MEMCPYH2D_1 });
    @initialize_queue(oq, .{ .color = sys_mod.MEMCPYD2H_1 });
  }
  @export_symbol(A_ptr, "A");
  @export_symbol(run);
}
END
words() { printf "$(printf '\\x%02x\\0\\0\\0' "$@")"; }
words {1..12} >in
words {10..22} >'more'
words 1 2 3 1 2 3 >'set'
for arch in wse2 wse3; do
    "$csl" run layout.csl --arch=$arch --h2d=A:0,0,2,1:3:set:16 --launch=run:7 --h2d=4:0,0,2,2:3:in --drain \
        --d2h=5:0,0,2,2:3:out --h2d=4:1,1,1,1:5:more --d2h=5:1,1,1,1:5:out2 --d2h=A:1,0,1,2:3:out3:16 >log
    cmp out <(words {10..15} {14..19}) || fail "the wrong values from a color on $arch"
    cmp out2 <(words {17..21}) || fail "the second copy from a color is wrong on $arch"
    cmp out3 <(words 1 9 3 0 7 0) || fail "the copy of 16 bits is wrong on $arch"
    ! "$csl" run layout.csl --arch=$arch --launch=run:1 --h2d=4:0,0,1,1:13:more --h2d=4:0,0,1,1:13:more \
        2>error >log || fail "more elements than queues hold are taken"
    grep -q "deadlock at cycle .* the host's copy to color 4 has [0-9]* of 13 elements" error ||
        fail "the copy's deadlock is not explained: $(cat error)"
done
! "$csl" run layout.csl --h2d=5:0,0,1,1:1:in 2>error >log || fail "a copy to a color of the other direction runs"
grep -q 'color 5 is not a MEMCPYH2D of the layout' error || fail "unexplained: $(cat error)"
! "$csl" run layout.csl --h2d=A:0,0,2,2:3:set:16 2>error >log || fail "a file that is too short is taken"
grep -q 'set: too short' error || fail "unexplained: $(cat error)"

# Tasks by turns: whatever the seed.
cat >layout.csl <<'END'
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("run", fn()void);
}
END
cat >pe.csl <<'END'
param memcpy_params;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
var order: u32 = 0;
fn turn(by: u32) void { order = 10 * order + by; }
task one() void { turn(1); @activate(@get_local_task_id(9)); }
task two() void { turn(2); @activate(@get_local_task_id(8)); }
task three() void { turn(3); if (order == 123123) { sys_mod.unblock_cmd_stream(); } else { @activate(@get_local_task_id(10)); } }
fn run() void { @activate(@get_local_task_id(10)); @activate(@get_local_task_id(8)); }
comptime {
  @bind_local_task(one, @get_local_task_id(8));
  @bind_local_task(two, @get_local_task_id(9));
  @bind_local_task(three, @get_local_task_id(10));
  @export_symbol(run);
}
END
for seed in 0 1 2 3 4; do
    "$csl" run layout.csl --order=turns --seed=$seed --max-cycles=1000 --launch=run >out || fail "not by turns with seed $seed"
done
! "$csl" run layout.csl --order=fifo 2>error || fail "an order that there is not is taken"
grep -q -e '--order=random or --order=turns' error || fail "unexplained: $(cat error)"

# What programs say to the trace, with the same layout.
cat >pe.csl <<'END'
param memcpy_params;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
const prt = @import_module("<simprint>");
const silent = @import_module("<simprint>", .{ .enable = false });
const log = @import_module("<debug>", .{ .key = "log", .buffer_size = 10 });
var i: i16 = -3;
var h: f16 = 1.5;
var u: u16 = 10;
fn run() void {
  silent.print_string("nothing\n");
  prt.print_string("a \"b\" ");
  prt.print_u16_decimal(u);
  prt.print_string(" ");
  prt.print_u32_hex(0xabc);
  prt.print_string(" ");
  prt.print_u16_binary(u);
  prt.print_string(" ");
  prt.print_f32(0.25);
  prt.print_string("\nlost");
  log.trace_string("start");
  log.trace_i16(i);
  log.trace_f16(h);
  log.trace_bool(u == 10);
  log.trace_timestamp();
  sys_mod.unblock_cmd_stream();
}
comptime { @export_symbol(run); }
END
"$csl" run layout.csl --trace=trace --launch=run >out
[ "$(grep -c '"event":"print"' trace)" = 1 ] || fail "not one line printed: $(cat trace)"
grep -q '"text":"a \\u0022b\\u0022 10 00000ABC 0000000000001010 0.25"' trace || fail "the line is wrong: $(grep print trace)"
grep '"event":"record"' trace | sed 's/.*"name":"log","text":"\(.*\)"}$/\1/' | head -4 >records
cmp records <(printf 'start\n-3\n1.5\n1\n') || fail "the records are wrong: $(cat records)"
[ "$(grep -c '"event":"record"' trace)" = 5 ] || fail "the time is not recorded"

# CereSZ's sub-stages (tables 1 to 3) with fitted costs: none further than 25 % off, launch included, a block of 17 bits not
# 5 %. With estimated costs, all are below.
published=(multiply:1.0 5074 add 1040 lorenzo 975 sign 1044 max 1037 get_length 1380 shuffle:3 1976)
launches=() sum=0
for ((i = 0; i < ${#published[@]}; i += 2)); do launches+=("--launch=${published[i]}"); done
block=0 && for ((i = 1; i <= 32; i++)); do block+=,$(((i % 2 ? -1 : 1) * (i % 5 + 1) * 10000)).0; done
for costs in estimated fitted; do
    "$csl" run "$source/csl/kernels/profile_layout.csl" --params=width:1,height:1,scalar:0 --costs=$costs \
        --set=block:"$block" "${launches[@]}" >$costs
done
for ((i = 0; i < ${#published[@]}; i += 2)); do
    name=${published[i]%:*} want=${published[i + 1]}
    got=$(sed -n "s/^$name: \([0-9]*\) cycles/\1/p" fitted) less=$(sed -n "s/^$name: \([0-9]*\) cycles/\1/p" estimated)
    ((100 * got >= 75 * want && 100 * got <= 125 * want && less < want)) || fail "$name: $less, fitted $got cycles instead of $want"
    [ "$name" = shuffle ] && got=$((17 * got))
    sum=$((sum + got))
done
((sum > 44142 * 95 / 100 && sum < 44142 * 105 / 100)) || fail "a block takes $sum fitted cycles instead of 44142"
! "$csl" check layout.csl --costs=cheap 2>error || fail "costs that there are not are taken"
grep -q -e '--costs=estimated or --costs=fitted' error || fail "unexplained: $(cat error)"
