import { defineStore } from 'pinia'
import { createChangeCounter } from '../base/change-counter.ts'

/** How often people have moved what waits in a project. */
export const useQueueChanges = defineStore('queue-changes', createChangeCounter)
