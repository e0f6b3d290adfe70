/** Marks streams, tables and global tables, so that error messages can tell them apart; exists only in types. */
export declare const kind: unique symbol
/** Carries the types of key and value; exists only in types. */
export declare const row: unique symbol
/** Carries the serdes a stream or table still lacks; exists only in types. */
export declare const missing: unique symbol
