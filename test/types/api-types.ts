// What the public types promise and refuse. A line under @ts-expect-error is a mistake that must not compile; therefore nothing
// here is formatted: such a line must stay the next one.
import {
  bigint, bytes, json, keyValueStore, long, nullable, processor, sessionWindowed, streams, string, timeWindowed, windowStore, MillraceError, MillraceStreams,
} from '../../src/index.ts';
import type { Bytes, Duration, Entry, GlobalKTable, KGroupedStream, KStream, KTable, MillraceErrorCode, Serde, StreamRecord, Topology, Windowed } from '../../src/index.ts';
import { TestDriver } from '../../src/testing/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function expectType<Expected>(): <Actual>(actual: Actual, ...same: Equal<Actual, Expected> extends true ? [] : [mismatch: Actual]) => void;

interface Order { readonly id: string; readonly customerId: string; readonly cents: number; readonly status: 'open' | 'paid' }
interface Customer { readonly name: string }
interface Enriched { readonly id: string; readonly name: string | null }
const order = json<Order>();
const customer = json<Customer>();

export const sources: Topology = streams(builder => {
  // a declared side has the serde's type; an undeclared one is nullable bytes
  expectType<KStream<string, Order>>()(builder.stream('orders', { key: string, value: order }));
  expectType<KStream<Bytes | null, string>>()(builder.stream('lines', { value: string }));
  expectType<KStream<Bytes | null, Bytes | null>>()(builder.stream(['a', 'b']));
  expectType<KStream<string | null, Order | null>>()(builder.stream('orders', { key: nullable(string), value: nullable(order) }));
  expectType<KTable<string, Customer>>()(builder.table('customers', { key: string, value: customer }));
  expectType<GlobalKTable<string, Customer>>()(builder.globalTable('customers', { key: string, value: customer }));
  expectType<KStream<Windowed<string>, number>>()(builder.stream('w', { key: timeWindowed(string, '1m'), value: long }));
  // the value reaches the timestamp extractor with its type
  builder.stream('orders', { value: order, timestamp: (value, _key, record) => { expectType<Order>()(value); return record.partitionTime; } });
  // @ts-expect-error a type argument is no serde
  builder.stream<string, Order>('orders');
  // @ts-expect-error a typo in an option
  builder.stream('orders', { key: string, valeu: order });
  // @ts-expect-error a table needs both serdes
  builder.table('customers', { value: customer });
  // @ts-expect-error no topic at all
  builder.stream([]);
  // @ts-expect-error Kafka Streams' long is not checked against anything but numbers
  builder.stream('orders', { value: long, timestamp: value => value.at });
});

streams(builder => {
  const orders = builder.stream('orders', { key: string, value: order });
  const maybe = builder.stream('orders', { key: nullable(string), value: nullable(order) });

  // stateless steps carry types and say which serde is missing
  expectType<KStream<string, number, 'no value serde'>>()(orders.mapValues(value => value.cents));
  expectType<KStream<string, Order, 'no key serde'>>()(orders.selectKey(value => value.customerId));
  expectType<KStream<number, string, 'no key serde' | 'no value serde'>>()(orders.map((value, key) => [value.cents, key]));
  expectType<KStream<string, string, 'no value serde'>>()(orders.flatMapValues(value => [value.id]));
  expectType<KStream<string, Order>>()(orders.filter(value => value.cents > 0).filterNot(value => value.status === 'open').peek(value => { void value; }));
  expectType<KStream<string | null, Order>>()(maybe.filter(value => value !== null));
  // @ts-expect-error null was declared, so it must be handled
  maybe.mapValues(value => value.cents);
  // @ts-expect-error an unknown field
  orders.filter(value => value.amount > 3);
  // @ts-expect-error a step cannot be asynchronous
  orders.mapValues(async value => value.cents);
  // @ts-expect-error a condition cannot be asynchronous
  orders.filter(async value => value.cents > 0);
  // @ts-expect-error an action cannot be asynchronous
  orders.foreach(async value => { await Promise.resolve(value); });
  // @ts-expect-error a key and a value, not an object
  orders.map(value => ({ key: value.id, value }));
  // @ts-expect-error values must be iterable
  orders.flatMapValues(value => value.cents);

  // sinks
  orders.to('out');
  orders.to(value => `out-${value.status}`);
  orders.mapValues(value => value.cents).to('out', { value: long });
  orders.map(value => [value.cents, value.id]).to('out', { key: long, value: string });
  orders.mapValues(value => value.status).to('out', { value: string }); // a sink only writes: 'open' | 'paid' is a string
  maybe.to('out', { value: order, partitioner: (value, _key, _topic, count) => value === null ? undefined : value.cents % count });
  // @ts-expect-error the value serde is missing
  orders.mapValues(value => value.cents).to('out');
  // @ts-expect-error the value serde is missing, though options are there
  orders.mapValues(value => value.cents).to('out', { name: 'sink' });
  // @ts-expect-error the key serde is missing
  orders.selectKey(value => value.cents).to('out', { value: order });
  // @ts-expect-error a serde of another type
  orders.mapValues(value => value.cents).to('out', { value: string });
  // @ts-expect-error a long read as bigint is not a number
  orders.mapValues(value => value.cents).to('out', { value: bigint });

  // withSerdes
  expectType<KStream<string, number>>()(orders.mapValues(value => value.cents).withSerdes({ value: long }));
  expectType<KStream<string, string>>()(orders.mapValues(value => value.status).withSerdes({ value: string }));
  expectType<KStream<string | null, Order>>()(maybe.filter(value => value !== null).withSerdes({ key: string }));
  // @ts-expect-error a serde of another type
  orders.mapValues(value => value.cents).withSerdes({ value: string });

  // split: named branches, guards narrow
  const { paid, rest } = orders.split({
    paid: (value): value is Order & { status: 'paid' } => value.status === 'paid',
    rest: 'default',
  });
  expectType<KStream<string, Order & { status: 'paid' }>>()(paid);
  expectType<KStream<string, Order>>()(rest);
  // @ts-expect-error no such branch
  orders.split({ big: value => value.cents > 100 }).small;

  // merge takes the same type only
  expectType<KStream<string, Order>>()(orders.merge(builder.stream('more', { key: string, value: order })));
  // @ts-expect-error another value type
  orders.merge(builder.stream('customers', { key: string, value: customer }));
  // a narrower stream can stand for a wider one
  const wider: KStream<string | null, Order | null> = orders;
  void wider;
  // @ts-expect-error but not the other way round
  const narrower: KStream<string, Order> = maybe;
  void narrower;
});

streams(builder => {
  const orders = builder.stream('orders', { key: string, value: order });
  const maybe = builder.stream('orders', { key: nullable(string), value: nullable(order) });

  // grouping: null keys drop out; re-keying asks for both sides
  expectType<KGroupedStream<string, Order | null>>()(maybe.groupByKey());
  expectType<KTable<string, number>>()(orders.groupByKey().count());
  expectType<KTable<string, number>>()(orders.groupBy(value => value.status, { key: string }).count({ store: 'c' }));
  expectType<KTable<string, number>>()(orders.selectKey(value => value.status).groupByKey({ key: string }).count());
  expectType<KTable<string, number>>()(orders.mapValues(() => new Date()).groupByKey().count()); // never written, so no serde is asked for
  expectType<KTable<string, number>>()(orders.mapValues(value => value.cents).groupByKey().reduce((a, b) => a + b, { value: long }));
  // @ts-expect-error the new key needs a serde
  orders.groupBy(value => value.status);
  // @ts-expect-error a re-keyed stream needs a key serde
  orders.selectKey(value => value.customerId).groupByKey();
  // @ts-expect-error the repartition topic needs the value serde, too
  orders.map(value => [value.id, value.cents]).groupByKey({ key: string });
  // @ts-expect-error the key serde is for another type
  orders.groupBy(value => value.cents, { key: string });
  // @ts-expect-error reduce stores values, so their serde is asked for
  orders.mapValues(value => value.cents).groupByKey().reduce((a, b) => a + b);

  // a type argument alone changes nothing: another type needs a serde that reads it
  // @ts-expect-error keys are strings
  orders.groupByKey<number>();
  // @ts-expect-error keys are strings, values orders
  orders.toTable<number, boolean>();
  // @ts-expect-error keys are strings
  orders.repartition<number>();

  // aggregate: the serde decides the type
  const totals = json<{ orders: number; cents: number }>();
  const perKey = orders.groupByKey().aggregate(() => ({ orders: 0, cents: 0 }), (a, v) => ({ orders: a.orders + 1, cents: a.cents + v.cents }), { value: totals, store: 't' });
  expectType<KTable<string, { orders: number; cents: number }>>()(perKey);
  // @ts-expect-error the result is stored, so its serde is needed
  orders.groupByKey().aggregate(() => 0, (a, v) => a + v.cents);
  // @ts-expect-error the initial value does not fit the serde
  orders.groupByKey().aggregate(() => '', (a, v) => a + v.cents, { value: long });
  // @ts-expect-error the aggregator does not fit the serde
  orders.groupByKey().aggregate(() => 0, (a, v) => `${a}${v.id}`, { value: long });
  // unwindowed aggregations never see null, windowed ones do
  maybe.groupByKey().aggregate(() => 0, (a, v) => { expectType<Order>()(v); return a + v.cents; }, { value: long });
  maybe.groupByKey().windowedBy({ tumbling: '1m', grace: 0 }).aggregate(() => 0, (a, v) => { expectType<Order | null>()(v); return a + (v?.cents ?? 0); }, { value: long });

  // windows
  const grouped = orders.groupByKey();
  const counts = grouped.windowedBy({ tumbling: '1m', grace: '10s' }).count();
  expectType<KTable<Windowed<string>, number>>()(counts);
  expectType<KTable<Windowed<string>, number>>()(grouped.windowedBy({ hopping: '5m', every: '1m', grace: 0 }, { emit: 'final' }).count());
  expectType<KTable<Windowed<string>, number>>()(grouped.windowedBy({ sliding: 30_000, grace: 0 }).count());
  expectType<KTable<Windowed<string>, number>>()(grouped.windowedBy({ unlimited: 0 }).count());
  grouped.windowedBy({ session: '15m', grace: 0 }).aggregate(() => 0, a => a + 1, (a, b) => a + b, { value: long, store: 's' });
  // @ts-expect-error grace has no default
  grouped.windowedBy({ tumbling: '1m' });
  // @ts-expect-error hopping windows need their distance
  grouped.windowedBy({ hopping: '1m', grace: 0 });
  // @ts-expect-error one kind of window
  grouped.windowedBy({ tumbling: '1m', session: '1m', grace: 0 });
  // @ts-expect-error minutes are 'm'
  grouped.windowedBy({ tumbling: '1min', grace: 0 });
  // @ts-expect-error sessions need a merger
  grouped.windowedBy({ session: '15m', grace: 0 }).aggregate(() => 0, a => a + 1, { value: long });
  // the windowed key's serde is derived; a sink may be given one
  counts.toStream().to('out');
  counts.toStream().to('out', { key: sessionWindowed(string) });
  // @ts-expect-error a plain serde on a windowed key
  counts.toStream().to('out', { key: string });
  // dropping the window re-keys
  counts.toStream((_n, { key }) => key).to('out', { key: string });
  // @ts-expect-error the new key has no serde yet
  counts.toStream((_n, { key }) => key).to('out');

  // suppress
  expectType<KTable<Windowed<string>, number>>()(counts.suppress({ until: 'windowCloses' }));
  counts.suppress({ until: '10s', maxRecords: 1000, whenFull: 'stop' });
  // @ts-expect-error a table without windows has none to close
  grouped.count().suppress({ until: 'windowCloses' });
  // @ts-expect-error a final result cannot be early
  counts.suppress({ until: 'windowCloses', whenFull: 'emit' });

  // deletions appear when a table becomes a stream
  expectType<KStream<string, number | null>>()(grouped.count().toStream());
  // @ts-expect-error they must be handled
  grouped.count().toStream().mapValues(n => n + 1);
  expectType<KStream<string, number>>()(grouped.count().toStream().filter(n => n !== null));
  expectType<KTable<string, number>>()(grouped.count().filter(n => n > 3, { store: 'many' }));

  // cogroup
  const clicks = builder.stream('clicks', { key: string, value: string }).groupByKey();
  const basket = grouped.cogroup<string[]>((a, v) => [...a, v.id]).cogroup(clicks, (a, v) => [...a, v]).aggregate(() => [], { value: json<string[]>(), store: 'basket' });
  expectType<KTable<string, string[]>>()(basket);
  // @ts-expect-error the aggregate's type must be said
  grouped.cogroup((a, v) => [...a, v.id]);
  // @ts-expect-error another key type
  grouped.cogroup<number>((a, v) => a + v.cents).cogroup(builder.stream('x', { key: long, value: string }).groupByKey(), a => a);
});

streams(builder => {
  const orders = builder.stream('orders', { key: string, value: order });
  const payments = builder.stream('payments', { key: string, value: json<{ cents: number }>() });
  const maybe = builder.stream('orders', { key: nullable(string), value: nullable(order) });
  const customers = builder.table('customers', { key: string, value: customer });
  const byNumber = builder.table('numbered', { key: long, value: customer });
  const countries = builder.globalTable('countries', { key: string, value: string });
  const near = { within: '10m', grace: 0 } as const;

  // stream-stream: the outer side is nullable in the joiner, null keys survive only on outer sides
  expectType<KStream<string, number, 'no value serde'>>()(orders.join(payments, (o, p) => o.cents - p.cents, near));
  orders.join(payments, (o, p) => { expectType<Order>()(o); expectType<{ cents: number }>()(p); return 0; }, near);
  orders.leftJoin(payments, (o, p) => { expectType<{ cents: number } | null>()(p); return o.cents; }, near);
  orders.outerJoin(payments, (o, p) => { expectType<Order | null>()(o); return (o?.cents ?? 0) - (p?.cents ?? 0); }, near);
  expectType<KStream<string, string, 'no value serde'>>()(maybe.join(payments, (o, p, key) => { expectType<string>()(key); return `${o.cents - p.cents}`; }, near));
  expectType<KStream<string | null, number, 'no value serde'>>()(maybe.leftJoin(payments, o => o.cents, near));
  expectType<KStream<string, number, 'no value serde'>>()(orders.selectKey(o => o.customerId).join(payments, o => o.cents, { ...near, key: string }));
  expectType<KStream<string, number, 'no value serde'>>()(orders.join(payments.mapValues(p => p.cents), (_o, c) => c, { ...near, otherValue: long }));
  // @ts-expect-error two streams need a time
  orders.join(payments, (o, p) => o.cents - p.cents);
  // @ts-expect-error grace has no default
  orders.join(payments, (o, p) => o.cents - p.cents, { within: '10m' });
  // @ts-expect-error keys of different types
  orders.join(builder.stream('x', { key: long, value: string }), (_o, x) => x, near);
  // @ts-expect-error the right side may be null
  orders.leftJoin(payments, (o, p) => o.cents - p.cents, near);
  // @ts-expect-error the re-keyed side needs a serde
  orders.selectKey(o => o.customerId).join(payments, o => o.cents, near);
  // @ts-expect-error the other side's new value needs a serde
  orders.join(payments.mapValues(p => p.cents), (_o, c) => c, near);

  // stream-table
  expectType<KStream<string, Enriched, 'no value serde'>>()(orders.leftJoin(customers, (o, c): Enriched => ({ id: o.id, name: c?.name ?? null })));
  expectType<KStream<string, string, 'no value serde'>>()(orders.join(customers, (_o, c) => c.name));
  expectType<KStream<string, string, 'no value serde'>>()(orders.mapValues(o => o.id).join(customers, (id, c) => id + c.name)); // key unchanged: no serde
  orders.selectKey(o => o.customerId).join(customers, (_o, c) => c.name, { key: string });
  // @ts-expect-error the table's value may be missing
  orders.leftJoin(customers, (_o, c) => c.name);
  // @ts-expect-error a re-keyed stream needs a key serde
  orders.selectKey(o => o.customerId).join(customers, (_o, c) => c.name);
  // @ts-expect-error keys of different types
  orders.join(byNumber, (_o, c) => c.name);

  // global table
  expectType<KStream<string, string, 'no value serde'>>()(orders.join(countries, o => o.customerId, (o, country) => o.id + country));
  orders.leftJoin(countries, () => null, (_o, country) => { expectType<string | null>()(country); return 0; });
  // @ts-expect-error the selector's type is not the table's key
  orders.join(countries, o => o.cents, (o, country) => o.id + country);

  // table-table and foreign key
  const names = customers.mapValues(c => c.name);
  expectType<KTable<string, string, 'no value serde'>>()(names);
  expectType<KTable<string, string>>()(customers.mapValues(c => c.name, { value: string, store: 'names' }));
  expectType<KTable<string, string>>()(customers.outerJoin(names, (c, n) => c?.name ?? n ?? '', { value: string, store: 'j' }));
  customers.leftJoin(names, (c, n) => { expectType<string | null>()(n); return c.name; });
  const orderTable = builder.table('orders', { key: string, value: order });
  expectType<KTable<string, string>>()(orderTable.foreignKeyJoin(customers, o => o.customerId, (o, c) => o.id + c.name, { value: string }));
  orderTable.foreignKeyLeftJoin(byNumber, o => o.cents, (_o, c) => c?.name ?? null, { value: string });
  // @ts-expect-error the foreign key is not the other table's key
  orderTable.foreignKeyJoin(byNumber, o => o.customerId, (_o, c) => c.name, { value: string });
  // @ts-expect-error the right table's values have no serde yet
  orderTable.foreignKeyJoin(names, o => o.customerId, (_o, n) => n, { value: string });
  // table groupBy: the serdes decide
  expectType<KTable<string, number>>()(orderTable.groupBy(o => [o.status, o.cents], { key: string, value: long }).reduce((a, v) => a + v, (a, v) => a - v));
  // @ts-expect-error the subtractor is missing
  orderTable.groupBy(o => [o.status, o], { key: string, value: order }).aggregate(() => 0, (a, o) => a + o.cents, { value: long });
});

streams(builder => {
  const orders = builder.stream('orders', { key: string, value: order });
  const counts = orders.groupByKey().count({ store: 'counts' });
  const seen = keyValueStore('seen', { key: string, value: long });
  const recent = windowStore('recent', { key: string, value: order, windowSize: '1m', retention: '5m' });

  const out = orders.process({
    stores: { seen, recent, counts: counts.store },
    key: long,
    value: nullable(customer),
    init: ({ stores, forward, schedule }) => {
      expectType<number | undefined>()(stores.seen.get('a'));
      expectType<number | undefined>()(stores.counts.get('a')?.value);
      // @ts-expect-error a table's store is read-only for others
      stores.counts.put('a', null);
      // @ts-expect-error no such store
      stores.other;
      schedule({ every: '1s', by: 'wallClock' }, now => { forward({ key: now, value: null, timestamp: now }); });
      // @ts-expect-error two clocks only
      schedule({ every: '1s', by: 'eventTime' }, () => {});
      return record => {
        expectType<StreamRecord<string, Order>>()(record);
        stores.recent.put(record.key, record.value, record.timestamp);
        forward({ key: record.value.cents, value: { name: record.key }, headers: record.headers.with('odd', '1') }, 'child');
        // @ts-expect-error the output key is a number
        forward({ ...record, value: { name: '' } });
      };
    },
  });
  expectType<KStream<number, Customer | null>>()(out);
  // without serdes the types stay
  expectType<KStream<string, Order>>()(orders.process({ init: ({ forward }) => record => forward(record) }));
  // processValues cannot change the key
  expectType<KStream<string, number>>()(orders.processValues({ value: long, init: ({ forward }) => ({ process: ({ value }) => forward({ value: value.cents }) }) }));
  // @ts-expect-error it takes no key
  orders.processValues({ value: long, init: ({ forward }) => ({ process: ({ key, value }) => forward({ key, value: value.cents }) }) });
  // a processor on its own
  const score = processor({ input: { key: string, value: order }, stores: { seen }, value: long, init: ({ forward }) => record => forward({ key: record.key, value: record.value.cents }) });
  expectType<KStream<string, number>>()(orders.process(score));
  // @ts-expect-error it takes other values
  builder.stream('customers', { key: string, value: customer }).process(score);
});

// json refuses what JSON does not give back
json<{ a: string; b?: readonly number[]; c: { d: null }[] }>();
// @ts-expect-error a Date comes back as text
json<{ at: Date }>();
// @ts-expect-error a bigint cannot be written
json<{ n: { big: bigint }[] }>();
expectType<Serde<{ at: Date }>>()(json((value: unknown) => ({ at: new Date(String(value)) })));
expectType<Serde<Windowed<string>>>()(timeWindowed(string, '1m'));

// durations
export const durations: Duration[] = [0, 1500, '1m', '1.5h', '250ms'];
// @ts-expect-error a number without unit is no text
export const wrong: Duration = '10';

// errors are a closed union
export function exitCode(code: MillraceErrorCode): number {
  switch (code) {
    case 'BROKER_UNREACHABLE': return 69;
    // @ts-expect-error no such code
    case 'BROKER_GONE': return 70;
    default: return 70;
  }
}
// @ts-expect-error no such code
new MillraceError('OOPS');

// runtime and test driver
export async function runtime(topology: Topology): Promise<void> {
  await using app = new MillraceStreams({ topology, config: { streams: { 'application.id': 'a' }, kafka: { 'bootstrap.servers': 'b:9092', 'producer.linger.ms': 5 } } });
  app.onError(error => (error.code === 'TASK_FAILED_REPEATEDLY' ? 'shutdownClient' : 'replaceThread'));
  // @ts-expect-error a misspelt property
  new MillraceStreams({ topology, config: { streams: { 'application.id': 'a', 'commit.interval': 1 }, kafka: { 'bootstrap.servers': 'b' } } });
  // @ts-expect-error a misspelt guarantee
  new MillraceStreams({ topology, config: { streams: { 'application.id': 'a', 'processing.guarantee': 'exactly_once' }, kafka: { 'bootstrap.servers': 'b' } } });
  expectType<number | undefined>()(await app.stores.get('counts', 'a', { key: string, value: long }));

  using driver = new TestDriver(topology);
  const input = driver.input('orders', { key: string, value: order });
  input.pipe('k', { id: '1', customerId: 'c', cents: 1, status: 'paid' }, 10);
  // @ts-expect-error a field is missing
  input.pipe('k', { id: '1', customerId: 'c', cents: 1 });
  expectType<StreamRecord<string | null, number | null> | undefined>()(driver.output('out', { key: string, value: long }).read());
  const first: Entry<string, number> | undefined = [...driver.keyValueStore('seen', { key: string, value: long }).all()][0];
  void [first, bytes];
}
