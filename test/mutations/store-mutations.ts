import type { Mutation } from './mutation.ts'

/** Bugs in what stores keep of the past: old values, numbers of duplicates, values before. */
export const STORE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'undone-without-time',
    bug: 'A value that an abort gives back has the time of another.',
    file: 'stores/undo-log',
    text: 'this.#timestamps[to] = this.#timestamps[from] ?? -1',
    replacement: 'void 0',
    caughtBy: [
      {
        file: 'unit/stores/memory-key-value-store',
        title: 'gives values their times again, in whatever order the records of the transaction wrote them',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'duplicates-numbered-anew',
    bug: 'After a restore a store that keeps duplicates counts from the start, and a record of a join replaces an older one.',
    file: 'stores/memory-timed-store',
    text: 'this.lastTag.value = tag',
    replacement: 'void tag',
    caughtBy: [
      {
        file: 'unit/stores/memory-window-store',
        title: 'goes on behind the numbers it was restored with where duplicates are kept',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'held-back-is-before',
    bug: 'The value before of a result is one that nobody was told of, so that a sum takes the wrong one away.',
    file: 'stores/write-cache',
    text: ': held.old,',
    replacement: ': held.value,',
    caughtBy: ['keyValue', 'window', 'session'].map(kind => ({
      file: 'unit/stores/cached-stores',
      title: `a ${kind} store behind a cache tells of the value that was told before`,
      reason: /AssertionError/,
    })),
  },
]
