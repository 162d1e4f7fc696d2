import { defineStore } from 'pinia'
import { createChangeCounter } from '../base/change-counter.ts'

/** Counts changes of the queue's order by project. */
export const useQueueChanges = defineStore('queue-changes', createChangeCounter)
