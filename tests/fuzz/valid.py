"""Kernels that are right by construction, under schedules of all clauses, with the names that C++ and CUDA use."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from layoutc.backend.headers import runtime_dir
from layoutc.plan import names
from tests.fuzz.growth import NAMES
from tests.random_texts import ODD, PLAIN, Writer, words

COMPILERS = words("""
float double int threadIdx blockIdx __shared__ __global__ __device__ __restrict__ __syncthreads __half half2 sm_75
__LINE__ __FILE__ __func__ __COUNTER__ __CUDA_ARCH__ __CUDACC__ __cplusplus __GNUC__ __int128 __float128 _Float16
_Bool _Complex _Pragma __typeof__ typeof typeof__ asm__ __asm __attribute__ __declspec _Static_assert i386 errno EOF
stdin stdout INT_MAX M_PI FLT_MAX uint8_t int64_t size_t intptr_t ssize_t off_t pid_t offsetof va_list printf puts
operator_ new_ delete_ default_ thread item block thread_ item_ block_ thread_2 x__y x_ __ ___ _1 defined final
override module import alloca bcmp ffs gamma environ nv_bfloat16 __nv_bfloat16 cudaStream_t cudaErrorUnknown
cudaDataType CUDA_R_16F CUuuid va_list va_arg MAJOR_VERSION NV_IF_TARGET texture surface warpSize gridDim laneid_
layoutc layoutc_state launch args data begin end swap move forward array tuple vector string sum sum_2 greatest least
best best_here at element x_tile y_tile tile_i tile_j blocks_i blocks_j item_i item_j x_stride_0 y_stride_0 Index
Index_2 value values low high count
""")


class ValidWriter(Writer):
    """Writes one text and schedules for its kernel."""

    def names(self) -> list[str]:
        """Plain ones, or any that some compiler or header knows."""
        r = self.random
        if r.random() < 0.4:
            return super().names()
        odd = list(dict.fromkeys((*COMPILERS, *ODD, *NAMES, *r.sample(known_words(), 60))))
        return [*r.sample(odd, len(odd)), *(name for name in PLAIN if name not in odd)]

    def file(self) -> str:
        """A kernel and up to three schedules, the default one among them or not."""
        r = self.random
        self.depth = r.choice((0, 1, 1, 1, 2, 2, 3))
        text = self.text()
        named = [f"way_{k}" for k in range(r.choice((0, 0, 0, 0, 1)))]
        default = ["" for _ in range(r.choice((0, 1, 1, 1)))]
        return text + "".join(
            f"schedule {self.kernel}{f' as {name}' if name else ''} {{ {self._clauses()} }}\n"
            for name in (*default, *named))

    def _clauses(self) -> str:
        r = self.random
        indices = list(dict.fromkeys(i for _, own, _, _ in self.outputs for i in own))
        tile = {i: r.choice((1, 2, 3, 4, 5, 8, 16)) for i in indices if r.random() < 0.9}
        found = [f"tile ({', '.join(f'{i}: {n}' for i, n in tile.items())})"] if tile and r.random() < 0.8 else []
        staged = [t.name for t in (*self.inputs, *self.lets)]
        found += self._threads(tile if found else {}, staged)
        places = ("shared",) * 4 + ("shared halo global", "registers", "constant", "global")
        found += [f"stage {name} in {r.choice(places)}" for name in staged if r.random() < 0.4]
        if r.random() < 0.3:
            found.append(f"vector {r.choice((1, 2, 4, 8, 16))}")
        if r.random() < 0.3 and self.ranges:
            found.append(f"unroll {r.choice(list(self.ranges))}")
        if r.random() < 0.1:
            found.append(f"budget shared {r.choice((1, 16, 48))} KiB")
        return "  ".join(r.sample(found, len(found)))

    def _threads(self, tile: dict[str, int], staged: list[str]) -> list[str]:
        r = self.random
        outputs = 1
        for index in self.outputs[0][1]:
            outputs *= tile.get(index, 1)
        count = r.choice([n for n in range(1, min(outputs, 1024) + 1) if outputs % n == 0])
        match r.choice(("none", "none", "count", "count", "layout", "over")):
            case "count":
                return [f"threads {r.choice((1, 2, 8, 32, 33, 64, 256))}"]
            case "layout":
                items = outputs // count
                order = r.choice((f"({items}, 1)", f"(1, {count})"))
                return [f"threads ({count}, {items}):{order}"]
            case "over":
                return [f"threads over {r.choice(staged)}"]
        return []


@cache
def known_words() -> tuple[str, ...]:
    """What the planner keeps off the text, and whatever stands in the headers that a text includes."""
    headers = sorted(runtime_dir().rglob("*.h")) + sorted(runtime_dir().rglob("*.cuh"))
    words = {w for path in headers for w in re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8"))}
    return tuple(sorted(words | names.CPP | names.CUDA | names.RUNTIME | names.OURS))


def valid_file(random: Random) -> str:
    """The text that this generator of random numbers gives."""
    return ValidWriter(random).file()
