"""Faults to plant into generated text: kernels of every mechanism, and for each what to change where."""

from __future__ import annotations

from typing import NamedTuple

KERNELS = {
    "blur": """
        const K = 5
        kernel blur(x: f32[H, W], w: f32[K, K]) -> (y: f32[H, W]) {
            edge x = nearest
            y[i, j] = sum(u in 0..K, v in 0..K) w[u, v] * x[i + u - 2, j + v - 2]
        }
        schedule blur { tile (i: 4, j: 8)  threads 16  stage x in shared  stage w in constant }
    """,
    "edges": """
        kernel edges(a: f32[H, W], b: i32[H, W]) -> (y: f32[H, W], z: i32[H, W]) {
            edge a[0] = (mirror, constant(-1))
            edge a[1] = wrap
            edge b[0] = reflect
            edge b[1] = (constant(7), mirror)
            y[i, j] = a[i - 2, j + 1] - a[i + 1, j - 3]
            z[i, j] = b[i + 2, j - 1] - b[i - 1, j + 2]
        }
        schedule edges { tile (i: 4, j: 4) }
    """,
    "numbers": """
        kernel numbers(x: f32[N], n: i16[N], k: i64[N]) -> (a: u8[N], b: i16[N], c: i64[N], d: f32[N], e: f16[N]) {
            edge x = constant(0)
            edge n = nearest
            a[i] = u8(x[i])
            b[i] = max(u in -1..=1) n[i + u]
            c[i] = k[i] // 3 + k[i] % 5
            d[i] = min(min(x[i], x[i + 1]), 100)
            e[i] = f16(x[i]) * f16(n[i])
        }
        schedule numbers { tile (i: 8)  threads 4 }
    """,
    "lets": """
        kernel lets(x: f32[H, W]) -> (y: f32[H, W]) {
            let g[i, j] = sum(v in -1..=1) x[i, j + v]
            edge x = wrap
            edge g = constant(1)
            y[i, j] = sum(u in -1..=1) g[i + u, j] * g[i, j + u]
        }
        schedule lets { tile (i: 4, j: 4)  stage x in shared  stage g in shared }
    """,
    "conv": """
        kernel conv(x: i8[C, H, W], w: i8[M, C, 3, 3], b: i32[M]) -> (y: i32[M, (H - 1)//2 + 1, (W - 1)//2 + 1]) {
            edge x[1] = constant(0)
            edge x[2] = constant(0)
            y[m, i, j] = b[m] + sum(c, u, v) i32(w[m, c, u, v]) * i32(x[c, 2*i + u - 1, 2*j + v - 1])
        }
        schedule conv { tile (m: 2, i: 2, j: 4) }
    """,
    "rows": """
        kernel rows(x: f64[H, W]) -> (s: f64[H], m: f64[H], at: i64[H]) {
            s[i] = sum(j) x[i, j]
            m[i] = max(j) x[i, j]
            at[i] = argmin(j) x[i, j]
        }
        schedule rows { tile (i: 8)  threads (8, 1):(1, 1) }
    """,
    "team": """
        kernel team(x: f32[H, W]) -> (s: f32[H], at: i64[H]) {
            s[i] = sum(j) x[i, j]
            at[i] = argmax(j) x[i, j]
        }
        schedule team { tile (i: 2)  threads 128  vector 1 }
    """,
    "shared": """
        kernel shared(x: i32[N]) -> (s: i32[], m: i32[]) { s[] = sum(i) x[i]  m[] = max(i) x[i] }
        schedule shared { threads 4  vector 2 }
    """,
    "columns": """
        kernel columns(x: i32[H, W]) -> (s: i32[W], a: bool[W]) { s[j] = sum(i) x[i, j]  a[j] = any(i) (x[i, j] > 0) }
        schedule columns { tile (j: 8)  threads 16  vector 2 }
    """,
    "points": """
        kernel points(x: i16[H, W]) -> (s: i32[], at: i64[]) { s[] = sum(i, j) x[i, j]  at[] = argmin(i, j) x[i, j] }
        schedule points { threads 2  vector 2 }
    """,
    "fast": """
        kernel fast(x: f32[H, W]) -> (y: f32[H, W]) {
            edge x = reflect
            y[i, j] = sum(u in 0..2, v in -1..=2) x[i + u, j + v]
        }
        schedule fast { tile (i: 4, j: 16)  threads 8  stage x in shared  vector 4 }
    """,
    "held": """
        kernel held(x: f32[N]) -> (y: f32[N]) {
            edge x = mirror
            y[i] = x[i - 1] - 2*x[i] + x[i + 2]
        }
        schedule held { threads (8, 4):(4, 1)  stage x in registers }
    """,
    "past": """
        kernel past(x: u8[H, W], t: u8[]) -> (y: u8[H, W]) {
            edge x = constant(t[])
            y[i, j] = u8(u32(x[i - 1, j]) + u32(x[i, j + 1]) * u32(x[i, j]))
        }
        schedule past { tile (i: 4, j: 8)  threads (32, 1):(1, 1)  stage x in shared halo global }
    """,
    "chunks": """
        kernel chunks(x: i8[C, H, W], w: i8[M, C, 3], b: i32[M]) -> (y: i32[M, H, W]) {
            edge x[2] = constant(0)
            y[m, i, j] = b[m] + sum(c, v) i32(w[m, c, v]) * i32(x[c, i, j + v - 1])
        }
        schedule chunks { tile (m: 2, i: 2, j: 4, c: 2)  threads 8  stage x in shared double  stage w in shared }
    """,
    "copies": """
        kernel copies(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c[i, j] = sum(k) a[i, k] * b[k, j] }
        schedule copies { tile (i: 4, j: 8, k: 4)  threads 8  vector 4  stage a in shared double
                          stage b in shared double }
    """,
    "cores": """
        kernel cores(x: i8[N, W, 32], w: i8[M, 3, 32], b: i32[M]) -> (y: i32[N, W, M]) {
            edge x[1] = constant(0)
            y[n, j, m] = b[m] + sum(v, c) i32(w[m, v, c]) * i32(x[n, j + v - 1, c])
        }
        schedule cores { mma  tile (j: 32, m: 16) }
    """,
    "panels": """
        kernel panels(x: f16[N, W, 72], w: f16[M, 2, 72]) -> (y: f32[N, W, M]) {
            edge x[1] = constant(0)
            y[n, j, m] = sum(v, c) f32(w[m, v, c]) * f32(x[n, j + v - 1, c])
        }
        schedule panels { mma via threads  tile (j: 64, m: 64, c: 64) }
    """,
    "fused": """
        kernel fused(u: i32[H, W], c: i32[H, W]) -> (v: i32[H, W]) {
            edge u[0] = (constant(5), mirror)
            edge u[1] = wrap
            v[i, j] = u[i - 1, j] * c[i, j] + 3*u[i + 1, j] - u[i, j - 2] + u[i, j]
            step u = v
        }
        schedule fused { tile (i: 4, j: 8)  threads 16  fuse 3  stage c in shared }
    """,
    "streamed": """
        kernel streamed(u: i32[H, W], c: i32[H, W]) -> (v: i32[H, W]) {
            edge u[0] = constant(5)
            edge u[1] = wrap
            v[i, j] = u[i - 1, j] * c[i, j] + 3*u[i + 1, j] - u[i, j - 1] + u[i, j + 2]
            step u = v
        }
        schedule streamed { tile (i: 4, j: 55)  fuse 3 }
    """,
    "beside": """
        kernel beside(u: i32[D, H, W]) -> (v: i32[D, H, W]) {
            edge u = constant(3)
            v[i, j, k] = u[i - 1, j, k] + 3*u[i + 1, j, k + 1] - u[i, j - 1, k] + 2*u[i, j + 1, k - 1]
            step u = v
        }
        schedule beside { tile (i: 4, j: 2, k: 28)  threads 96  fuse 2  stage u in global }
    """,
}


class Mutant(NamedTuple):
    """A fault: wherever ``old`` stands in the kernel's text, ``new`` comes instead."""

    kernel: str
    name: str
    old: str
    new: str


MUTANTS = [Mutant(*words) for words in (
    ("blur", "halo one short", "at % 12 - 2", "at % 12 - 1"),
    ("blur", "box one element short", "at < 8 * 12", "at < 8 * 12 - 1"),
    ("blur", "box one row short", "at < 8 * 12", "at < 7 * 12"),
    ("blur", "box loaded with gaps", "at += 16", "at += 17"),
    ("blur", "box loaded twice", "at += 16", "at += 15"),
    ("blur", "row mask <= for <", "i < H", "i <= H"),
    ("blur", "column mask <= for <", "j < W", "j <= W"),
    ("blur", "last column never stored", "j < W", "j < W - 1"),
    ("blur", "store mask missing", "if (i < H && j < W)", "if (true)"),
    ("blur", "barrier removed", "__syncthreads();", ""),
    ("blur", "window flipped", "w[u * 5 + v]", "w[(4 - u) * 5 + 4 - v]"),
    ("blur", "window transposed", "w[u * 5 + v]", "w[v * 5 + u]"),
    ("blur", "last tap dropped", "v < 5", "v < 4"),
    ("blur", "reflect for nearest", "nearest(x_i, H)", "reflect(x_i, H)"),
    ("blur", "mirror for nearest", "nearest(x_j, W)", "mirror(x_j, W)"),
    ("blur", "low side lost", "nearest(x_i, H)", "(x_i < H ? x_i : H - 1)"),
    ("blur", "high side lost", "nearest(x_j, W)", "(x_j < 0 ? 0 : x_j)"),
    ("blur", "folded into the other extent", "nearest(x_i, H)", "nearest(x_i, W)"),
    ("blur", "another tensor's stride", "* x_stride_0", "* y_stride_0"),
    ("blur", "tile begins one late", "block / blocks_j * 4", "block / blocks_j * 4 + 1"),
    ("blur", "tiles overlap", "block % blocks_j * 8", "block % blocks_j * 7"),
    ("blur", "blocks rounded down", "(W + 7) / 8", "(W + 6) / 8"),
    ("blur", "two owners of an output", "item * 2 + thread / 8", "item + thread / 8"),
    ("blur", "rows of the box too narrow", "(item_i + u) * 12", "(item_i + u) * 11"),
    ("blur", "accumulator begins at 1", "sum = 0.0f", "sum = 1.0f"),
    ("blur", "fma rounded twice", "fma(w[u * 5 + v], x_tile[(item_i + u) * 12 + item_j + v], sum)",
     "w[u * 5 + v] * x_tile[(item_i + u) * 12 + item_j + v] + sum"),
    ("edges", "reflect for mirror", "mirror(i - 2, H)", "reflect(i - 2, H)"),
    ("edges", "mirror for reflect", "reflect(i + 2, H)", "mirror(i + 2, H)"),
    ("edges", "nearest for wrap", "wrap(j + 1, W)", "nearest(j + 1, W)"),
    ("edges", "constant's sign", "-1.0f", "1.0f"),
    ("edges", "another constant", ": 7", ": 8"),
    ("edges", "high side one late", "i + 1 < H", "i + 1 <= H"),
    ("edges", "low side one late", "j - 1 >= 0", "j - 1 > 0"),
    ("edges", "offset one short", "wrap(j - 3, W)", "wrap(j - 2, W)"),
    ("numbers", "saturation lost", "convert<u8>(x[i])", "u8(i64(x[i]))"),
    ("numbers", "maximum begins at 0", "greatest = -32768", "greatest = 0"),
    ("numbers", "quotient truncated", "floor_div(k[i], 3ll)", "k[i] / 3ll"),
    ("numbers", "remainder of the dividend's sign", "floor_mod(k[i], 5ll)", "k[i] % 5ll"),
    ("numbers", "unsigned for signed", "floor_div(k[i], 3ll)", "i64(u64(k[i]) / 3ull)"),
    ("numbers", "NaN skipped", "minimum(minimum(", "minimum_number(minimum("),
    ("numbers", "f16 not rounded", "float(f16(x[i]))", "float(x[i])"),
    ("numbers", "another number", "100.0f", "101.0f"),
    ("lets", "barrier before the let removed", "wrap(x_j, W)];\n    }\n    __syncthreads();", "wrap(x_j, W)];\n    }"),
    ("lets", "barrier after the let removed", "g;\n        }\n    }\n    __syncthreads();", "g;\n        }\n    }"),
    ("lets", "let's constant", "g = 1.0f", "g = 0.0f"),
    ("lets", "let's domain too large", "within(g_i, H)", "within(g_i, H + 1)"),
    ("lets", "let's fill mask too tight", "g_j < W + 1", "g_j < W"),
    ("lets", "let's box one row short", "at < 6 * 6", "at < 5 * 6"),
    ("lets", "let reads one to the right", "at % 6 + v + 1]", "at % 6 + v + 2]"),
    ("conv", "last channel dropped", "c < C", "c < C - 1"),
    ("conv", "stride lost", "within(i * 2 + u - 1, H)", "within(i + u - 1, H)"),
    ("conv", "padding one short", "v + j * 2 - 1]", "v + j * 2]"),
    ("conv", "last row lost", "within(i * 2 + u - 1, H)", "within(i * 2 + u - 1, H - 1)"),
    ("conv", "bias dropped", "add(b[m], sum)", "sum"),
    ("conv", "ragged channel unmasked", "m < M && ", ""),
    ("conv", "weights transposed", "u * w_stride_2 + v]", "v * w_stride_2 + u]"),
    ("conv", "strides swapped", "m * w_stride_0 + c * w_stride_1", "m * w_stride_1 + c * w_stride_0"),
    ("conv", "dilation 2 for 1", "v + j * 2 - 1", "2 * v + j * 2 - 1"),
    ("rows", "last column dropped", "j < W", "j < W - 1"),
    ("rows", "first column dropped", "Index j = 0", "Index j = 1"),
    ("rows", "maximum begins at 0", "-infinity<double>()", "0.0"),
    ("rows", "last of equal ones", "best_here < best", "best_here <= best"),
    ("rows", "NaN passed over", "is_nan(best_here) && !is_nan(best)", "false"),
    ("rows", "terms rounded to f32", "add_compensated(sum, x[i * x_stride_0 + j], lost)",
     "add_compensated(sum, double(float(x[i * x_stride_0 + j])), lost)"),
    ("team", "barrier removed", "__syncthreads();", ""),
    ("team", "sum begins at 1", "sum = 0.0f", "sum = 1.0f"),
    ("team", "a worker begins elsewhere", "part * 64 + worker", "part * 64 + worker % 63"),
    ("team", "a worker takes too many", "j += parts * 64", "j += parts * 32"),
    ("team", "last element dropped", "i < H ? W : 0", "i < H ? W - 1 : 0"),
    ("team", "rows past the end read", "i < H ? W : 0", "W"),
    ("team", "row past the end stored", "worker == 0 && i < H", "worker == 0"),
    ("team", "lanes without an element leave", "    const int lane = thread % 32;",
     "    if (worker >= W) return;\n    const int lane = thread % 32;"),
    ("team", "rows past the end leave", "    const int lane = thread % 32;",
     "    if (i >= H) return;\n    const int lane = thread % 32;"),
    ("team", "first shuffle left out", "distance = 16", "distance = 8"),
    ("team", "last shuffle left out", "distance > 0", "distance > 1"),
    ("team", "another distance", "lane ^ distance, 32", "lane ^ 1, 32"),
    ("team", "the other warp's sum left out", "sum = sum_of_warp[thread / 64 * 2 + lane % 2]",
     "sum = sum_of_warp[thread / 64 * 2]"),
    ("team", "another row's warps", "thread / 64 * 2 + lane % 2", "lane % 2"),
    ("team", "last lane leaves the warp's sum", "if (lane == 0) {\n        sum", "if (lane >= 30) {\n        sum"),
    ("team", "last of equal ones", "first_greatest(best_there, place_there, best, place)", "best_there >= best"),
    ("team", "any of equal ones", "first_greatest(best_there, place_there, best, place)", "best_there > best"),
    ("shared", "parts in one place", "shared_sum[block]", "shared_sum[0]"),
    ("shared", "last part left out", "part < parts", "part < parts - 1"),
    ("shared", "a part too many", "part < parts", "part <= parts"),
    ("shared", "one block alone stores nothing", "if (parts == 1)", "if (parts == 2)"),
    ("shared", "shared where one block is alone", "if (parts == 1)", "if (false)"),
    ("shared", "rest dropped", "i < N; i += parts * 4", "i < N - 1; i += parts * 4"),
    ("shared", "rest taken twice", "Index i = i_whole + thread", "Index i = i_whole - 1 + thread"),
    ("shared", "elements not joined", "sum = add(sum, sum_run[1])", "sum = sum_run[1]"),
    ("shared", "maximum begins at 0", "(-2147483647 - 1)", "0"),
    ("columns", "barrier removed", "__syncthreads();", ""),
    ("columns", "a group left out", "group = 1", "group = 2"),
    ("columns", "a row too many", "i < H; i += parts * 4", "i <= H; i += parts * 4"),
    ("columns", "column past the end taken", "if (j + element < W) {\n                    sum",
     "{\n                    sum"),
    ("columns", "column past the end stored", "if (j + element < W) {\n                if (parts",
     "{\n                if (parts"),
    ("columns", "vector past the end", "j + 1 < W", "j < W"),
    ("columns", "parts beside one another", "columns_sum[part * W + j + element]",
     "columns_sum[(j + element) * parts + part]"),
    ("points", "carry forgotten", "i = i + 1;", ""),
    ("points", "carry one late", "j_run >= j_count", "j_run > j_count"),
    ("points", "column-major place", "i64(i * W + j + element)", "i64((j + element) * H + i)"),
    ("fast", "vector read past the row", "x_j + 4 <= W", "x_j + 3 <= W"),
    ("fast", "vector read before the row", "x_j >= 0 && ", ""),
    ("fast", "vector stored past the row", "j + 3 < W", "j + 2 < W"),
    ("fast", "one fold for four elements", "reflect(x_j + element, W)", "reflect(x_j, W)"),
    ("fast", "box begins elsewhere than thought", "element + v + 4]", "element + v + 3]"),
    ("fast", "single stores past the row", "j + element < W) {\n                    y", "1) {\n                    y"),
    ("held", "window one late", "thread * 4 - 1", "thread * 4"),
    ("held", "neighbour instead of next but one", "x_held[item + 3]", "x_held[item + 2]"),
    ("held", "reflect for mirror", "mirror(x_i, N)", "reflect(x_i, N)"),
    ("past", "halo read from the tile", "within(item_j + 1, 8)", "within(item_j + 1, 9)"),
    ("past", "row before the first", "i - 1 >= 0", "i >= 0"),
    ("chunks", "last chunk dropped", "(C + 1) / 2", "C / 2"),
    ("chunks", "last turn dropped", "chunk < chunks_2 + 1", "chunk < chunks_2"),
    ("chunks", "short chunk taken whole", "minimum(chunk_c + 2, C) - chunk_c", "2"),
    ("chunks", "channel past the end loaded", "x_c < C && ", ""),
    ("chunks", "sums begin anew in every chunk", "        i8 x_next[3];", "        i8 x_next[3]; sum[0] = 0;"),
    ("chunks", "barrier before the buffers change removed", "__syncthreads();\n        i8", "i8"),
    ("chunks", "barrier behind the single buffer removed", "__syncthreads();\n            const int count_c",
     "const int count_c"),
    ("chunks", "one buffer for two", "const int buffer = chunk % 2;", "const int buffer = 0;"),
    ("chunks", "the next chunk's weights", "chunk * 2 - 2", "chunk * 2"),
    ("chunks", "a turn of the loads lost", "turn < 3", "turn < 2"),
    ("copies", "nobody waits", "copy_async_wait<0>();", ""),
    ("copies", "one group too few waited for", "copy_async_wait<0>();", "copy_async_wait<1>();"),
    ("copies", "copies never committed", "copy_async_commit();", ""),
    ("copies", "copy past the row", "chunk_k + 4 <= K", "chunk_k + 3 <= K"),
    ("copies", "short row loaded past its end", "chunk_k + element < K", "chunk_k + element <= K"),
    ("copies", "both into one buffer", "const int buffer = chunk % 2;", "const int buffer = 0;"),
    ("copies", "rounded twice", "sum[item] = fma(left", "sum[item] = sum[item] + 0.0f * fma(left"),
    ("copies", "another row's factor", "(buffer * 4 + item_i) * 4 + item_k]", "buffer * 16 + item_k]"),
    ("cores", "buffer refilled while it is read", "copy_async_wait<2>();\n        __syncthreads();",
     "copy_async_wait<2>();"),
    ("cores", "chunk read before it came", "copy_async_wait<2>", "copy_async_wait<3>"),
    ("cores", "the first row for zeros", "x + at,\n                within(x_1, W) ? 16 : 0",
     "x + (within(x_1, W) ? at : 0)"),
    ("cores", "vectors permuted otherwise than read", "(line / 4 % 2)) * 16), x +",
     "(line % 2)) * 16), x +"),
    ("cores", "columns past the last are read", "tile_columns + line < M ? 16 : 0", "16"),
    ("panels", "copies not shown", "copy_async_show();", ""),
    ("panels", "chunk read before it came", "copy_async_wait<0>", "copy_async_wait<1>"),
    ("panels", "sums stored before they are there", "wgmma_end<32>(sums);", ""),
    ("panels", "one buffer too few", "chunk % 3", "chunk % 2"),
    ("panels", "vectors lie otherwise than they are read", "^ (line % 8)", "^ (line / 2 % 8)"),
    ("panels", "the last chunk lost", "chunk < 4; ++chunk", "chunk < 3; ++chunk"),
    ("cores", "rows past the last are read", "minimum(tile_rows + thread / 2, rows - 1)",
     "tile_rows + thread / 2"),
    ("cores", "run stored past the row", "first + 3 < M", "first < M"),
    ("fused", "barrier between steps removed", "        }\n        __syncthreads();\n    }", "        }\n    }"),
    ("fused", "halo of all steps one short", "at / 14 - 3", "at / 14 - 2"),
    ("fused", "box written that is read", "u_tile[(step % 2 * 10", "u_tile[((step - 1) * 10"),
    ("fused", "one step too few", "step < 3", "step < 2"),
    ("fused", "rows of a step too few", "box_i >= step - 1", "box_i >= step"),
    ("fused", "columns of a step too few", "box_j >= step * 2 - 2", "box_j >= step * 2 - 1"),
    ("fused", "nearest for mirror", "mirror(place_i, H)", "nearest(place_i, H)"),
    ("fused", "constant lost after the first step", "if (place_i >= 0) {", "if (true) {"),
    ("fused", "another constant after the first step", "= 5;", "= 6;"),
    ("fused", "rows past the end too few", "place_i < H - step + 3", "place_i < H - step + 2"),
    ("fused", "neighbours of the other side", "c_tile[(i - tile_i + 2) * 12 + box_j]",
     "c_tile[(i - tile_i + 2) * 12 + j - tile_j + 4]"),
    ("fused", "coefficient one row off", "c_tile[(i - tile_i + 2) * 12", "c_tile[(i - tile_i + 1) * 12"),
    ("fused", "outputs from another step", "u_tile[(item_i + 3) * 14 + item_j + 6]",
     "u_tile[(item_i + 13) * 14 + item_j + 6]"),
    ("streamed", "row above for the row itself", "u_rows[left * 6 + column]", "u_rows[left * 6 + column + 2]"),
    ("streamed", "own value for a neighbour's", "lane + 1, 32", "lane, 32"),
    ("streamed", "rows not moved on", "= u_rows[held + left * 6 - 4]", "= u_rows[held + left * 6 - 6]"),
    ("streamed", "row of a step one late", "row + left * 2 - 7;", "row + left * 2 - 6;"),
    ("streamed", "constant lost after the first step", "within(place_i, H) ? u_made[column] : 5",
     "true ? u_made[column] : 5"),
    ("streamed", "outer columns stored too", "column - 3, 55)", "column - 3, 56)"),
    ("streamed", "first column one late", "tile_j + thread * 2 - 3", "tile_j + thread * 2 - 2"),
    ("streamed", "rows past the tile", "place_i < tile_i + 4", "place_i < tile_i + 5"),
    ("streamed", "rows of the last turn missing", "walked < rows", "walked < rows - 3"),
    ("streamed", "nearest for wrap", "wrap(place_j, W)]", "nearest(place_j, W)]"),
    ("streamed", "last row not loaded", "minimum(row, tile_i + 6)", "minimum(row, tile_i + 5)"),
    ("streamed", "edge taken for the interior", "tile_i - 10 >= 0", "tile_i - 10 >= -10"),
    ("beside", "own rows for those of the warp before", "warp >= 1 ? warp - 1 : warp", "warp"),
    ("beside", "own rows for those of the warp after", "warp < 2 ? warp + 1 : warp", "warp"),
    ("beside", "rows of the turn itself", "now = (walked + turn) % 2", "now = 0"),
    ("beside", "barrier removed", "__syncthreads();", ""),
    ("beside", "lines one late", "first_j = tile_j + warp * 2 - 2", "first_j = tile_j + warp * 2 - 1"),
    ("beside", "a line's value for the next one's", "u_made[side_j - 1] : 3", "u_made[0] : 3"),
    ("beside", "lines of the block's edge stored too", "within(place_j - tile_j, 2)", "within(place_j - tile_j, 3)"),
    ("past", "edge value lost", ": t[0]", ": u8(0)"),
)]  # fmt: skip
