import type { FaultId } from '../support/fault-count.ts'

/** One row of the fault table: which tests inject a fault, and what must hold. */
export interface MatrixRow {
  readonly fault: FaultId
  /** What goes wrong. */
  readonly what: string
  readonly expected: string
  /** What the tests count to know that it happened. */
  readonly counted: string
  /** Files below `test/` that have tests with the number in their titles; none where a later version brings them. */
  readonly files: readonly string[]
}

const CRASH_POINTS = 'integration/faults/transaction-crash-points.test'
const ZOMBIES = 'integration/faults/transaction-zombies.test'
const ANSWERS = 'integration/faults/transaction-answers.test'
const OUTAGE = 'integration/faults/broker-outage.test'
const REBALANCE = 'integration/faults/group-rebalance.test'
const EPOCHS = 'integration/faults/transaction-epochs.test'
const RESTORE = 'integration/faults/state-restore.test'
const INPUTS = 'integration/faults/state-inputs.test'
const QUOTAS = 'integration/faults/quotas.test'
const VERSION = 'integration/faults/transaction-version.test'
const RIGHTS = 'integration/security/access-rights.test'
const PRODUCER = 'integration/kafka/producer-faults.test'
const FETCHER = 'integration/kafka/fetcher-faults.test'
const ERRORS = 'integration/cases/errors.test'
const KILLED = 'chaos/killed-processes.chaos'
const STOPPING = 'chaos/stopping-processes.chaos'
const STEPS = 'chaos/troubled-steps.chaos'
const NETWORK = 'chaos/network.chaos'
const REQUESTS = 'chaos/transaction-requests.test'
const THREE = 'chaos/three-brokers.chaos'
const CLOCK = 'chaos/jumping-clock.chaos'
const DATA = 'chaos/poisoned-data.test'

/** The fault catalogue. `npm run chaos` runs it, `docs/correctness.md` shows it. */
export const FAULT_MATRIX: readonly MatrixRow[] = [
  {
    fault: 'F1',
    what: 'killed after a fetch, before anything was sent',
    expected: 'nothing is visible; work begins again at C',
    counted: 'kills at a first AddPartitionsToTxn that no broker saw',
    files: [KILLED],
  },
  {
    fault: 'F2',
    what: 'killed after the first Produce of a transaction, or after its partitions were added',
    expected: 'the next life aborts it; nobody sees it',
    counted: 'processes that ended at the crash point',
    files: [CRASH_POINTS],
  },
  {
    fault: 'F3',
    what: 'killed after the last Produce, before the offsets',
    expected: 'aborted as a whole; C has not moved',
    counted: 'processes that ended at the crash point',
    files: [CRASH_POINTS],
  },
  {
    fault: 'F4',
    what: 'killed between offsets and EndTxn',
    expected: 'aborted as a whole; C has not moved',
    counted: 'processes that ended at the crash point',
    files: [CRASH_POINTS],
  },
  {
    fault: 'F5',
    what: 'killed between EndTxn and its answer',
    expected: 'committed or aborted as a whole, and the next life knows which',
    counted: 'processes that ended at the crash point',
    files: [CRASH_POINTS],
  },
  {
    fault: 'F6',
    what: 'killed after the answer, before the stores follow',
    expected: 'committed; no output repeated',
    counted: 'processes that ended at the crash point',
    files: [CRASH_POINTS],
  },
  {
    fault: 'F7',
    what: 'killed while stores on disk follow',
    expected: 'the store is behind and catches up',
    counted: '',
    files: [],
  },
  {
    fault: 'F8',
    what: 'killed inside InitProducerId',
    expected: 'the next start works',
    counted: 'processes that ended at the crash point',
    files: [CRASH_POINTS],
  },
  {
    fault: 'F9',
    what: 'killed inside a restore, at each tenth of it',
    expected: 'the next restore works; a part is never trusted',
    counted: 'kills before the application ran',
    files: [KILLED],
  },
  {
    fault: 'F10',
    what: 'paused past the session, another takes over, awake again',
    expected: 'fenced: nothing of it becomes visible; it rejoins and works',
    counted: 'processes stopped with a request held',
    files: [ZOMBIES],
  },
  {
    fault: 'F11',
    what: 'paused past the transaction timeout only',
    expected: 'the broker aborts; the same member goes on',
    counted: 'processes stopped with a request held',
    files: [ZOMBIES],
  },
  {
    fault: 'F12',
    what: 'the loop blocked past its session',
    expected: 'as F10; a metric shows it',
    counted: 'calls of a step that blocked',
    files: [STEPS],
  },
  {
    fault: 'F13',
    what: 'two processes with one name, or one state directory',
    expected: 'the older is fenced and stops; the newer does not get the directory',
    counted: 'processes that ended for it',
    files: [ZOMBIES],
  },
  {
    fault: 'F14',
    what: 'SIGTERM in a batch, a rebalance, a restore; twice',
    expected: 'committed or aborted within the grace; exit code 0; nothing open',
    counted: 'frames of the moment that were slowed down',
    files: [STOPPING],
  },
  {
    fault: 'F15',
    what: 'out of memory',
    expected: 'as a kill',
    counted: 'calls of a step that took all memory',
    files: [STEPS],
  },
  {
    fault: 'F16',
    what: 'a broker ends: leader or coordinator, cleanly or not, one or all',
    expected: 'waited out; exact afterwards',
    counted: 'nodes that ended',
    files: [OUTAGE],
  },
  {
    fault: 'F17',
    what: 'the coordinator moves inside a transaction',
    expected: 'found again; the transaction ends one way',
    counted: 'coordinators that ended, answers NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS',
    files: [REQUESTS, OUTAGE],
  },
  {
    fault: 'F18',
    what: 'an EndTxn that arrives in the next transaction',
    expected: 'refused; that transaction is not touched',
    counted: 'late EndTxn delivered',
    files: [ANSWERS],
  },
  {
    fault: 'F19',
    what: 'requests that arrive late or twice',
    expected: 'refused, or counted once',
    counted: 'requests sent twice',
    files: [REQUESTS, PRODUCER],
  },
  {
    fault: 'F20',
    what: 'a peer that accepts and never answers, either direction',
    expected: 'the deadline closes the connection; no wait is endless',
    counted: 'connections that fell silent',
    files: [NETWORK, FETCHER],
  },
  {
    fault: 'F21',
    what: 'cut off from one broker only',
    expected: 'progress or abort; no half commit',
    counted: 'connections refused',
    files: [THREE, FETCHER],
  },
  {
    fault: 'F22',
    what: 'a slow link, bytes in small pieces',
    expected: 'slower, and right; no transaction times out',
    counted: 'slow frames',
    files: [NETWORK, FETCHER],
  },
  {
    fault: 'F23',
    what: 'the broker times a transaction out',
    expected: 'aborted and done again; not fatal',
    counted: 'transactions that the broker aborted',
    files: [ZOMBIES],
  },
  {
    fault: 'F24',
    what: 'a rebalance during a commit',
    expected: 'the commit ends first; a new generation is used in the same transaction, or it is aborted',
    counted: 'rebalances, slow commits, generations that ended in a commit',
    files: [REBALANCE],
  },
  {
    fault: 'F25',
    what: 'throttled by quotas',
    expected: 'slower, without a storm of retries',
    counted: 'throttled answers',
    files: [QUOTAS],
  },
  {
    fault: 'F26',
    what: 'too few replicas in sync',
    expected: 'waited out or aborted; never fewer acknowledgements',
    counted: 'answers NOT_ENOUGH_REPLICAS',
    files: [THREE],
  },
  {
    fault: 'F27',
    what: 'the epoch overflows',
    expected: 'a new producer id; nothing lost',
    counted: 'new producer ids',
    files: [EPOCHS],
  },
  {
    fault: 'F28',
    what: 'transaction.version changes under the application',
    expected: 'switched between transactions only',
    counted: 'changes of the level',
    files: [VERSION],
  },
  {
    fault: 'F29',
    what: 'the disk of a store is full, read-only or fails',
    expected: 'the task stops; the store catches up or is rebuilt',
    counted: '',
    files: [],
  },
  {
    fault: 'F30',
    what: 'a store on disk is damaged, lost or of another application',
    expected: 'that store alone is rebuilt; never served',
    counted: '',
    files: [],
  },
  {
    fault: 'F31',
    what: 'a store on disk is older than what its changelog still has',
    expected: 'a full restore, or a refusal to start',
    counted: '',
    files: [],
  },
  {
    fault: 'F32',
    what: 'the wall clock jumps by an hour and back',
    expected: 'timeouts do not care; event time comes from records',
    counted: 'jumps seen by a stream thread',
    files: [CLOCK],
  },
  {
    fault: 'F33',
    what: 'poisoned bytes of any kind',
    expected: "the record's policy; the process lives; no prototype changes",
    counted: 'dead letters',
    files: [DATA],
  },
  {
    fault: 'F34',
    what: 'a record that is too large',
    expected: "the record's policy",
    counted: 'dead letters',
    files: [ERRORS],
  },
  {
    fault: 'F35',
    what: 'deletions in a changelog, compaction',
    expected: 'deleted stays deleted; the same state',
    counted: 'tombstones, records that compaction removed',
    files: [RESTORE],
  },
  {
    fault: 'F36',
    what: 'an input topic deleted, made anew, or with more partitions',
    expected: 'stops and says so',
    counted: 'processes that stopped',
    files: [DATA, INPUTS],
  },
  {
    fault: 'F37',
    what: 'retention overtakes C',
    expected: "stops, unless the source's policy allows the jump",
    counted: 'processes that stopped',
    files: [INPUTS],
  },
  {
    fault: 'F38',
    what: 'a right taken away',
    expected: 'stops; the message names principal and right',
    counted: 'processes that stopped',
    files: [RIGHTS],
  },
  {
    fault: 'F39',
    what: 'an operator deletes the group or its offsets',
    expected: 'refused while it runs; afterwards never read as zero',
    counted: 'attempts refused, starts without offsets',
    files: [DATA, RESTORE],
  },
  {
    fault: 'F40',
    what: 'writers of the input abort their transactions',
    expected: 'none of it is processed',
    counted: 'records of aborted transactions',
    files: [INPUTS],
  },
]
