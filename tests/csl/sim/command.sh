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
const c: color = @get_color(0);
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
"$source/scripts/csl_heat.py" counters >heat.svg
[ "$(grep -c '<rect' heat.svg)" = 8 ] || fail "the picture lacks PEs"
"$csl" check layout.csl --params=W:2 >out
! "$csl" check layout.csl 2>error || fail "a missing parameter is not refused"
grep -q "layout.csl:1:1: param 'W' has no value" error || fail "no place in: $(cat error)"
# One PE more than the routes were made for: what the middle one gets has nowhere to go.
! "$csl" run layout.csl --params=W:3 --launch=run 2>error >out || fail "a deadlock is not seen"
grep -q 'deadlock at cycle .*PE(1,0): @fmovs of line 13 has 0 of 4 elements and waits for color 0' error ||
    fail "the deadlock is not explained: $(cat error)"
