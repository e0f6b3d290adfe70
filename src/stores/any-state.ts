import type { KeyValueState } from './key-value-state.ts'
import type { SessionState } from './session-state.ts'
import type { SuppressState } from './suppress-state.ts'
import type { VersionedState } from './versioned-state.ts'
import type { WindowState } from './window-state.ts'

/** A store of any kind; `kind` tells which. */
export type AnyState = KeyValueState | WindowState | SessionState | SuppressState | VersionedState
