import type { Diff } from '../../src-shared/contract/workspaces.ts'

/** A branch with a changed, a new, a deleted, a binary and a too large file. */
export function diff(): Diff {
  const patch = `diff --git a/src/delivery/backoff.ts b/src/delivery/backoff.ts
index 1111111..2222222 100644
--- a/src/delivery/backoff.ts
+++ b/src/delivery/backoff.ts
@@ -12,7 +12,9 @@ import type { Policy } from './policy.ts'
 
 /** How long to wait before the next attempt. */
 export function nextDelay(attempt: number, policy: Policy): number {
-  const raw = policy.baseMs * 2 ** attempt;
-  return Math.min(raw, policy.maxMs);
+  const cap = Math.min(policy.baseMs * 2 ** attempt, policy.maxMs);
+  return Math.floor(policy.random() * cap);
 }
+
+export const NEVER = Number.POSITIVE_INFINITY;
 
@@ -48,6 +50,7 @@ export class Backoff {
   private readonly clock: Clock;
   private attempts = 0;
 
+  /** Extends a lease that this worker still holds. */
   next(): number {
     return nextDelay(this.attempts++, this.policy);
   }
diff --git a/test/delivery/backoff.test.ts b/test/delivery/backoff.test.ts
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/test/delivery/backoff.test.ts
@@ -0,0 +1,6 @@
+import { expect, test } from 'vitest';
+import { nextDelay } from '../../src/delivery/backoff.ts';
+
+test('waits at most the cap', () => {
+  expect(nextDelay(40, { baseMs: 10, maxMs: 30_000, random: () => 0.5 })).toBe(15_000);
+});
diff --git a/docs/old.md b/docs/old.md
deleted file mode 100644
index 4444444..0000000
--- a/docs/old.md
+++ /dev/null
@@ -1,2 +0,0 @@
-# Old
-Nothing here.
`
  const file = (
    path: string,
    status: Diff['files'][number]['status'],
    additions: number,
    deletions: number,
    more = {},
  ) => ({
    path,
    old_path: null,
    status,
    old_mode: status === 'added' ? null : '100644',
    new_mode: status === 'deleted' ? null : '100644',
    blob: status === 'deleted' ? null : '3333333333333333333333333333333333333333',
    additions,
    deletions,
    binary: false,
    truncated: false,
    reason: null,
    viewed: false,
    ...more,
  })
  return {
    base: '9c1e77b40a3f1d',
    head: '1b2c3d4e5f60718293a4b5c6d7e8f90112233445',
    tree: '5f60718293a4b5c6d7e8f901122334451b2c3d4e',
    patch,
    truncated: true,
    files: [
      file('src/delivery/backoff.ts', 'modified', 5, 2),
      file('test/delivery/backoff.test.ts', 'added', 6, 0),
      file('docs/old.md', 'deleted', 0, 2),
      file('assets/logo.png', 'modified', 0, 0, { binary: true, reason: 'binary' }),
      file('package-lock.json', 'modified', 12_400, 9_800, { truncated: true, reason: 'too_large' }),
    ],
  }
}
