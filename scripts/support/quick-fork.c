// For tests alone, on Linux on x86-64: `fork` as `vfork`, for the one process that is started with it preloaded.
//
// To start a program, Node forks: the kernel copies the page tables of a process of some hundred megabytes, and each
// page that either side writes afterwards faults. On a virtual machine whose page tables are virtual too, that is 40 ms
// for each git, ten times what git takes. The child that shares its parent's memory until it executes saves all of it,
// and what libuv does in between (signals, file descriptors, the folder) is a process's own. `environ` is not: libuv
// sets it there, and the parent gets its own back.
#include <stdlib.h>
#include <unistd.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "for Linux on x86-64"
#endif

extern char **environ;

// What this process starts is not to have it: some of it can't see the file, and says so.
__attribute__((constructor)) static void keep_to_this_process(void) { unsetenv("LD_PRELOAD"); }

// By hand, since the child returns through this frame first: as in glibc's vfork, the address to return to is in a
// register. System call 58 is vfork; it keeps rdi and rsi. Another thread than the main one gets 57, the usual fork: the
// main thread continues beside it, and would read the child's `environ`.
__attribute__((naked)) pid_t fork(void) {
  __asm__(
      // 186 is gettid, 39 getpid: the main thread has the process's own number.
      "mov $186, %eax\n"
      "syscall\n"
      "mov %eax, %edx\n"
      "mov $39, %eax\n"
      "syscall\n"
      "cmp %eax, %edx\n"
      "je 2f\n"
      "mov $57, %eax\n"
      "syscall\n"
      "ret\n"
      "2: pop %rdi\n"
      "mov environ@GOTPCREL(%rip), %rax\n"
      "mov (%rax), %rsi\n"
      "mov $58, %eax\n"
      "syscall\n"
      "push %rdi\n"
      "test %eax, %eax\n"
      "jz 1f\n"
      "mov environ@GOTPCREL(%rip), %rcx\n"
      "mov %rsi, (%rcx)\n"
      "1: ret\n");
}
