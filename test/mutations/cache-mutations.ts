import type { Mutation } from './mutation.ts'

const FILE = 'unit/stores/cached-stores'

/** Bugs in what stores behind a cache keep of a transaction, or of a record, that is taken back. */
export const CACHE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'cache-survives-abort',
    bug: 'What a cache holds back of an aborted transaction is written with the next commit, ahead of its input (I3).',
    file: 'stores/memory-key-value-store',
    text: 'this.cache?.abort() this.#undo.abort(',
    replacement: 'this.#undo.abort(',
    caughtBy: [
      {
        file: FILE,
        title: 'a keyValue store behind a cache logs nothing of an aborted transaction',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'window-cache-survives-abort',
    bug: 'The same of the caches of windows and sessions.',
    file: 'stores/memory-timed-store',
    text: 'this.cache?.abort() this.#undo.abort(',
    replacement: 'this.#undo.abort(',
    caughtBy: ['window', 'session'].map(kind => ({
      file: FILE,
      title: `a ${kind} store behind a cache logs nothing of an aborted transaction`,
      reason: /AssertionError/,
    })),
  },
  {
    name: 'told-survives-abort',
    bug: 'Values before are hidden by the time of results that were aborted.',
    file: 'stores/memory-timed-store',
    text: 'this.#told.abort()',
    replacement: 'this.#told.commit()',
    caughtBy: [
      { file: FILE, title: 'are not hidden by what an aborted transaction told of', reason: /AssertionError/ },
    ],
  },
  {
    name: 'told-survives-record',
    bug: 'Values before are hidden by the time of results of a flush that was taken back.',
    file: 'stores/memory-timed-store',
    text: 'this.#told.rollbackRecord()',
    replacement: 'void 0',
    caughtBy: [
      { file: FILE, title: 'are not hidden by what a flush that was taken back told of', reason: /AssertionError/ },
    ],
  },
]
