// Stacks, and the switch between them. Written by hand for x86-64 and aarch64, since swapcontext makes a system
// call each time; elsewhere it serves. Ending in `ret` keeps the processor's return predictor right.
#include "machine.h"

#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(LC_UCONTEXT)
#define LC_UCONTEXT
#endif
#ifdef LC_UCONTEXT
#include <ucontext.h>
#endif

namespace lc {

Fiber launcher, nobody;

namespace {

const size_t STACK_BYTES = 64 << 10;            // a kernel's threads use some 3 KB at -O0; pages come as they are touched
size_t page_bytes;
char* stacks;                                   // [MAX_THREADS][STACK_BYTES], the lowest page of each kept from use
char* free_stacks[MAX_THREADS];
u32 free_count;

// Tops at unequal distances, lest all stacks fight for the same cache sets.
char* top_of(u32 stack) { return stacks + (stack + 1) * STACK_BYTES - stack * 5 % 61 * 64; }

}  // namespace

void prepare_stacks() {
    if (stacks) return;
    page_bytes = size_t(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) __builtin_trap();
    stacks = static_cast<char*>(memory);
    for (u32 i = 0; i < MAX_THREADS; ++i) mprotect(stacks + i * STACK_BYTES, page_bytes, PROT_NONE);
}
void free_all_stacks() {
    free_count = 0;
    for (u32 i = MAX_THREADS; i-- > 0;) free_stacks[free_count++] = top_of(i);
}
void give_stack(Fiber& fiber) { fiber.stack = free_stacks[--free_count]; }
void take_stack_back(Fiber& fiber) { free_stacks[free_count++] = fiber.stack; }
bool is_below_a_stack(const void* address) {
    const char* at = static_cast<const char*>(address);
    return stacks && at >= stacks && at < stacks + MAX_THREADS * STACK_BYTES
        && size_t(at - stacks) % STACK_BYTES < page_bytes;
}

}  // namespace lc

#ifdef LC_UCONTEXT

namespace lc {

namespace {

ucontext_t contexts[MAX_THREADS + 2];           // the last two are the launcher's and nobody's
ucontext_t* context_of(Fiber& fiber) {
    if (&fiber == &launcher) return &contexts[MAX_THREADS];
    if (&fiber == &nobody) return &contexts[MAX_THREADS + 1];
    return &contexts[reinterpret_cast<Thread*>(&fiber) - threads];
}

}  // namespace

void resume(Fiber& from, Fiber& to) { swapcontext(context_of(from), context_of(to)); }
void start(Fiber& from, Fiber& fresh, void (*entry)()) {
    ucontext_t* context = context_of(fresh);
    getcontext(context);
    const size_t bytes = STACK_BYTES - page_bytes - 64 * 64;
    context->uc_stack.ss_sp = fresh.stack - bytes;
    context->uc_stack.ss_size = bytes;
    context->uc_link = nullptr;
    makecontext(context, entry, 0);
    swapcontext(context_of(from), context);
}

}  // namespace lc

#else

extern "C" void layoutc_resume(void** save, void* load);
extern "C" void layoutc_start(void** save, void* top, void (*entry)());

namespace lc {

void resume(Fiber& from, Fiber& to) { layoutc_resume(&from.stack_pointer, to.stack_pointer); }
void start(Fiber& from, Fiber& fresh, void (*entry)()) { layoutc_start(&from.stack_pointer, fresh.stack, entry); }

}  // namespace lc

#ifdef __APPLE__
#define LC_SYMBOL(name) "_" name
#define LC_HIDE ".private_extern "
#else
#define LC_SYMBOL(name) name
#define LC_HIDE ".hidden "
#endif
#define LC_ENTRY(name) \
    ".globl " LC_SYMBOL(name) "\n" LC_HIDE LC_SYMBOL(name) "\n.p2align 4\n" LC_SYMBOL(name) ":\n"

#ifdef __x86_64__
#define LC_SAVE                 \
    "  endbr64\n"               \
    "  pushq %rbp\n"            \
    "  pushq %rbx\n"            \
    "  pushq %r12\n"            \
    "  pushq %r13\n"            \
    "  pushq %r14\n"            \
    "  pushq %r15\n"            \
    "  movq %rsp, (%rdi)\n"     \
    "  movq %rsi, %rsp\n"
asm(".text\n"
    LC_ENTRY("layoutc_resume") LC_SAVE
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    LC_ENTRY("layoutc_start") LC_SAVE
    "  xorl %ebp, %ebp\n"
    "  pushq $0\n"              // no return address: the entry never returns
    "  jmp *%rdx\n");
#else
#define LC_SAVE                     \
    "  sub sp, sp, #160\n"          \
    "  stp x19, x20, [sp, #0]\n"    \
    "  stp x21, x22, [sp, #16]\n"   \
    "  stp x23, x24, [sp, #32]\n"   \
    "  stp x25, x26, [sp, #48]\n"   \
    "  stp x27, x28, [sp, #64]\n"   \
    "  stp x29, x30, [sp, #80]\n"   \
    "  stp d8, d9, [sp, #96]\n"     \
    "  stp d10, d11, [sp, #112]\n"  \
    "  stp d12, d13, [sp, #128]\n"  \
    "  stp d14, d15, [sp, #144]\n"  \
    "  mov x9, sp\n"                \
    "  str x9, [x0]\n"              \
    "  mov sp, x1\n"
asm(".text\n"
    LC_ENTRY("layoutc_resume") LC_SAVE
    "  ldp x19, x20, [sp, #0]\n"
    "  ldp x21, x22, [sp, #16]\n"
    "  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n"
    "  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n"
    "  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    LC_ENTRY("layoutc_start") LC_SAVE
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  br x2\n");
#endif

#endif
