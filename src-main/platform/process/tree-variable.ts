/** Environment variable whose value identifies the processes of a tree that left the group. */
export const treeVariable = 'SVC_PROCESS_TREE'
