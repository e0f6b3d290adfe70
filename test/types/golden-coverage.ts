// The awkward golden cases in the typed DSL, to see that each can be written. Type-checked only.
import {
  json, keyValueStore, long, nullable, sessionStore, streams, string, timestampedKeyValueStore, versionedKeyValueStore, windowStore,
} from '../../src/index.ts';
import type { KStream, StreamsBuilder } from '../../src/index.ts';

const num = (v: string | null): number => (v === null || v === 'DEL' ? -1 : Number(v.slice(v.lastIndexOf(':') + 1)));
const kv = { key: nullable(string), value: nullable(string) };
const t = { key: string, value: string };
const read = (b: StreamsBuilder, topic: string): KStream<string | null, string | null> => b.stream(topic, kv);

export const cases = {
  'stateless-map': streams(b => { read(b, 'in').map((v, k) => (k === null ? ['nokey', v] : [`${k}-${v === null ? 'n' : num(v) % 3}`, v === null ? null : `${v}!`])).to('out', t); }),
  'stateless-split': streams(b => {
    const { A, second } = read(b, 'in').split({ A: v => num(v) % 2 === 0, second: (_v, k) => k === 'a' }, { name: 'br-' });
    for (const [name, s] of [['A', A], ['2', second]] as const) s.mapValues(v => `${v}@br-${name}`).to('out', { value: string });
  }),
  'stateless-two-topics-dynamic-sink': streams(b => { b.stream(['in1', 'in2'], kv).to((_v, k) => `dyn-${k ?? 'none'}`); }),
  'stateless-timestamp-extractor': streams(b => {
    b.stream('in', { ...kv, onInvalidTimestamp: 'skip', timestamp: (v, _k, { partitionTime }) => (v === null ? partitionTime : num(v) % 10 === 0 ? -1 : Number(v.split(':')[0]) + 1000) }).to('out');
  }),
  'stateless-repartition': streams(b => { read(b, 'in').repartition({ name: 'rp' }).mapValues(v => `${v}r`).to('out', { value: string }); }),
  'agg-aggregate': streams(b => { read(b, 'in').groupByKey().aggregate(() => '', (a, v) => (v === 'DEL' ? null : `${a}${v};`), { store: 'agg', value: string }).toStream().to('out'); }),
  'agg-groupBy-count': streams(b => { read(b, 'in').groupBy(v => (v === null ? null : `g${num(v) % 3}`), { key: string }).count().toStream().to('out'); }),
  'table-source-materialized': streams(b => { b.table('in', { ...t, store: 't' }).toStream().to('out'); }),
  'table-filter-mapValues-groupBy-count': streams(b => {
    b.table('in', t).filter(v => num(v) % 4 !== 0).mapValues(v => `m${num(v) % 3}`).groupBy(v => [v, v], { key: string, value: string }).count({ store: 'cnt' }).toStream().to('out');
  }),
  'table-groupBy-aggregate-nullkey': streams(b => {
    b.table('in', t).groupBy((v, k) => [num(v) % 4 === 0 ? null : `g${num(v) % 3}`, k + v], { key: string, value: string })
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => (a.length > 30 ? null : `${a}-${v}`), { store: 'ga', value: string }).toStream().to('out');
  }),
  'table-mapValues-materialized': streams(b => { b.table('in', t).mapValues((v, k) => (num(v) < 20 ? null : k + v), { store: 'm', value: string }).toStream().to('out'); }),
  'table-toTable-rekeyed': streams(b => { read(b, 'in').selectKey(v => (v === null ? 'nv' : `k${num(v) % 3}`)).toTable({ key: string }).mapValues(v => `${v}t`).toStream().to('out', { value: string }); }),
  'table-toStream-rekey': streams(b => { b.table('in', t).toStream((_v, k) => `${k}!`).to('out', { key: string }); }),
  'table-transformValues': streams(b => { b.table('in', t).transformValues(() => { let calls = 0; return (v, k) => (v === null ? null : `${k}${v}#${++calls}`); }, { store: 'tv', value: string }).toStream().to('out'); }),
  'window-hopping-reduce-close': streams(b => { read(b, 'in').groupByKey().windowedBy({ hopping: 100, every: 30, grace: 40 }, { emit: 'final' }).reduce((a, v) => `${a}+${v}`, { store: 'w' }).toStream().to('out'); }),
  'window-tumbling-inmemory': streams(b => { read(b, 'in').groupByKey().windowedBy({ tumbling: 100, grace: 50 }).count({ store: 'w', storeType: 'memory', retention: 150 }).toStream().to('out'); }),
  'window-tumbling-groupBy-table': streams(b => {
    read(b, 'in').groupByKey().windowedBy({ tumbling: 100, grace: 50 }).count().groupBy((n, w) => [`w${n % 2}`, w.key], t).aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { value: string }).toStream().to('out');
  }),
  'session-aggregate': streams(b => { read(b, 'in').groupByKey().windowedBy({ session: 30, grace: 40 }).aggregate(() => '', (a, v) => (v === 'DEL' ? null : `${a}${v};`), (p, q) => `${p}|${q}`, { store: 's', value: string }).toStream().to('out'); }),
  'suppress-timelimit-maxrecords': streams(b => { read(b, 'in').groupByKey().count({ store: 'c' }).suppress({ until: 200, maxRecords: 3, name: 'sup' }).toStream().to('out'); }),
  'suppress-shutdown-when-full': streams(b => { read(b, 'in').groupByKey().windowedBy({ tumbling: 100, grace: 50 }).count().suppress({ until: 'windowCloses', maxRecords: 4, name: 'sup' }).toStream().to('out'); }),
  'ssjoin-outer-rekeyed': streams(b => {
    read(b, 'left').selectKey(v => `k${num(v) % 2}`)
      .outerJoin(read(b, 'right'), (l, r, k) => `${k}=${l}/${r}`, { within: { before: 20, after: 60 }, grace: 40, key: string, store: 'jj', storeType: 'memory' }).to('out', { value: string });
  }),
  'ssjoin-self-inner': streams(b => { const s = read(b, 'in'); s.join(s, (l, r) => `${l}/${r}`, { within: 50, grace: 0 }).to('out', { value: string }); }),
  'stjoin-left-versioned-grace': streams(b => {
    read(b, 's').leftJoin(b.table('t', { ...t, store: 'vt', versioned: { historyRetention: 200 } }), (s, v) => `${s}/${v}`, { grace: 50 }).to('out', { value: string });
  }),
  'gtjoin-left-bykey': streams(b => { read(b, 's').leftJoin(b.globalTable('g', { ...t, store: 'gs' }), (_v, k) => k, (s, g, k) => `${k}:${s}/${g}`).to('out', { value: string }); }),
  'ttjoin-nested': streams(b => { b.table('l', t).outerJoin(b.table('r', t), (l, r) => `${l}/${r}`).leftJoin(b.table('t', t), (x, y) => `${x}/${y}`).toStream().to('out', { value: string }); }),
  'ttjoin-null-joiner': streams(b => { b.table('l', t).join(b.table('r', t), (l, r) => (num(l) % 2 === 0 ? null : `${l}/${r}`), { store: 'tt', value: string }).toStream().to('out'); }),
  'fkjoin-left-materialized': streams(b => { b.table('l', t).foreignKeyLeftJoin(b.table('r', t), l => l.split(':')[0] ?? null, (l, r) => `${l}/${r}`, { store: 'fj', value: string }).toStream().to('out'); }),
  'cogroup-session': streams(b => {
    read(b, 'a').groupByKey().cogroup<string>((a, v) => `${a}A${v}`).cogroup(read(b, 'b').groupByKey(), (a, v) => `${a}B${v}`)
      .windowedBy({ session: 30, grace: 40 }).aggregate(() => '', (p, q) => `${p}|${q}`, { store: 'cg', value: string }).toStream().to('out');
  }),
  'proc-punctuate-stream-time': streams(b => {
    read(b, 'in').process({
      stores: { st: timestampedKeyValueStore('st', { key: string, value: long }) }, value: string,
      init: ({ stores: { st }, forward, schedule }) => {
        schedule({ every: 100, by: 'streamTime' }, now => { for (const [key, { value }] of st.all()) { forward({ key, value: `${value}@${now}`, timestamp: now }); st.delete(key); } });
        return ({ key, timestamp }) => { if (key !== null) st.put(key, { value: (st.get(key)?.value ?? 0) + 1, timestamp }); };
      },
    }).to('out');
  }),
  'proc-forward-to-named-children': streams(b => {
    const p = read(b, 'in').process({
      name: 'P',
      init: ({ forward }) => record => {
        if (record.value === null) forward({ ...record, key: 'all' });
        else if (num(record.value) % 2 === 0) forward({ ...record, timestamp: record.timestamp + 7 }, 'S1');
        else forward({ ...record, headers: record.headers.with('odd', '1') }, 'S2');
      },
    });
    p.to('out1', { name: 'S1' });
    p.to('out2', { name: 'S2' });
  }),
  'proc-session-store': streams(b => {
    b.stream('in', { key: string, value: nullable(string) }).process({
      stores: { ss: sessionStore('ss', { key: string, value: long, retention: 200 }) }, value: string,
      init: ({ stores: { ss }, forward }) => ({ key, timestamp }) => {
        let [start, end, count] = [timestamp, timestamp, 1];
        for (const [session, n] of [...ss.findSessions(key, timestamp - 30, timestamp + 30)]) {
          start = Math.min(start, session.start); end = Math.max(end, session.end); count += n; ss.remove(session);
        }
        ss.put({ key, start, end }, count);
        forward({ key, value: `${start}-${end}=${count}` });
      },
    }).to('out');
  }),
  'proc-window-store-duplicates': streams(b => {
    b.stream('in', { key: string, value: nullable(string) }).processValues({
      stores: { wd: windowStore('wd', { key: string, value: string, retention: 300, windowSize: 100, retainDuplicates: true }) }, value: string,
      init: ({ stores: { wd }, forward }) => ({ key, value, timestamp }) => { wd.put(key, value, timestamp); forward({ value: [...wd.fetch(key, timestamp - 50, timestamp + 50)].map(([, v]) => v).join(',') }); },
    }).to('out');
  }),
  'proc-kv-store-range': streams(b => {
    b.stream('in', { key: string, value: nullable(string) }).process({
      stores: { kv: keyValueStore('kv', { ...t, storeType: 'memory' }) }, value: string,
      init: ({ stores: { kv: s }, forward }) => ({ key, value }) => { s.put(key, value); forward({ key, value: `${[...s.range('b', 'd')].map(([k, v]) => `${k}=${v}`).join(',')} n=${s.approximateNumEntries}` }); },
    }).to('out');
  }),
  'versioned-user-store': streams(b => {
    b.stream('in', { key: string, value: nullable(string) }).process({
      stores: { v: versionedKeyValueStore('v', { ...t, historyRetention: 100, segmentInterval: 50 }) }, value: string,
      init: ({ stores: { v: s }, forward }) => ({ key, value, timestamp }) => {
        const put = s.put(key, value, timestamp);
        forward({ key, value: `put=${put === 'latest' ? -1 : put === 'rejected' ? '-9223372036854775808' : put} get=${s.get(key)?.value ?? null} asof=${s.get(key, timestamp - 30)?.value ?? null}` });
      },
    }).to('out');
  }),
  'misc-names': streams(b => {
    b.stream('in', { key: nullable(string), value: string, name: 'my-source' }).filter(v => v !== '', { name: 'my-filter' })
      .groupBy(v => `g${num(v) % 2}`, { key: string, name: 'my-group' }).count({ name: 'my-count', store: 'my-store' }).toStream({ name: 'my-tostream' }).to('out', { name: 'my-sink' });
  }),
  'misc-table-sources-of-one-topic': streams(b => {
    read(b, 'in').to('out1');
    const table = read(b, 'in2').toTable();
    table.join(table, (l, r) => `${l}/${r}`).toStream().to('out2', { value: string });
  }),
  'json-default': streams(b => { b.stream('in', { value: json() }).filter(v => v !== null).to('out'); }),
};
