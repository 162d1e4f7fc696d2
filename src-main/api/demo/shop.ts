import type { OperationInput } from '../../../src-shared/contract/operations.ts'

/** The files of the demo's repository: a till in a few lines of shell, which every system of developers runs. */
export const shopFiles: Readonly<Record<string, string>> = {
  'README.md': `# Copse demo

A till that prints receipts: \`sh till.sh tea cake\`. Nothing here is yours: delete it whenever you like.
`,
  'prices.txt': 'tea 250\ncoffee 320\ncake 400\n',
  'till.sh': `#!/bin/sh
# Prints a receipt: sh till.sh tea cake
echo "Welcome!"

total=0
for item in "$@"; do
  price=$(sed -n "s/^$item //p" prices.txt)
  echo "$item $price"
  total=$((total + price))
done

echo "Total: $total"
`,
  'test.sh': `#!/bin/sh
set -e
sh till.sh tea cake | grep -q "Total: 650"
sh till.sh coffee | grep -q "320"
echo "The till adds up"
`,
}

type NewTask = Omit<OperationInput<'tasks.create'>, 'project_id' | 'review_config'>

/**
 * The demo's tasks, in the order in which they are made. The agent's script knows them by their branches, which have
 * these titles in their names.
 */
export const shopTasks = {
  merged: {
    title: 'Greet by the time of day',
    description: 'Say "Good morning" before noon and "Good day" after it, instead of "Welcome!".',
  },
  conflict: {
    title: 'Greet customers by name',
    description: 'Greet the one whom `CUSTOMER` names, and a friend without it, instead of "Welcome!".',
  },
  review: {
    title: 'Take 10 % off large orders',
    description: 'From 1000 cents on, the total is 10 % lower.',
  },
  question: {
    title: 'Show the currency of prices',
    description: 'Each line of the receipt shows its price with the currency. Ask which one, if you don’t know.',
  },
  running: {
    title: 'Translate the receipt',
    description: 'Add the word for "Total" in each language of `translations`.',
  },
} as const satisfies Readonly<Record<string, NewTask>>

export const shopChecks = ['sh -n till.sh', 'sh test.sh']
