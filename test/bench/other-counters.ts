import pg from 'pg'

/** What a caller is told; `conflict` asks it to try again, `duplicate` says that its key was seen before, and no more. */
export type Told = 'allowed' | 'refused' | 'conflict' | 'duplicate'

/** A way to count uses, of which only so many are allowed. */
export type Counter = {
  name: string
  /** Uses one, under a key of its own, which a way of counting may ignore. */
  use(key: string): Promise<Told>
  /** What the counter says in the end. */
  counted(): Promise<number>
}

/**
 * The ways in which others count, as their sources of June and August 2026 have them: their statements in their order, all on one Postgres,
 * which is kinder than what they run on.
 * @param limit how many uses are allowed
 */
export async function othersCounters(db: pg.Pool, limit: number): Promise<Counter[]> {
  await db.query(`
    drop table if exists licenses, keys, claims, usage_events;
    create table licenses (uses int not null);
    create table keys (name text primary key, remaining int not null);
    create table claims (key text primary key);
    create table usage_events (meter text not null, key text not null);
    create unique index on usage_events (key) where meter = 'deduplicated';
    insert into licenses values (0);
    insert into keys values ('claimed', ${limit}), ('looked at', ${limit}), ('atomic', ${limit})`)
  const decremented = async (name: string) => limit - (await remaining(db, name))
  return [
    {
      name: 'a locked row (Keygen)',
      use: () => incrementLocked(db, limit),
      counted: () => usesOfLicense(db),
    },
    {
      name: 'an atomic decrement (Unkey with Redis)',
      use: () => decrement(db, 'atomic'),
      counted: () => decremented('atomic'),
    },
    {
      name: 'a look, then a decrement (Unkey without Redis)',
      use: () => lookAndDecrement(db, 'looked at'),
      counted: () => decremented('looked at'),
    },
    {
      name: 'a claimed key, then a decrement (Autumn)',
      use: (key) => claimAndDecrement(db, 'claimed', key),
      counted: () => decremented('claimed'),
    },
    {
      name: 'a look, then an event (OpenMeter as it is installed)',
      use: (key) => lookAndIngest(db, limit, 'every', key),
      counted: () => ingested(db, 'every'),
    },
    {
      name: 'a look, then an event, deduplicated (OpenMeter, meters of Stripe)',
      use: (key) => lookAndIngest(db, limit, 'deduplicated', key),
      counted: () => ingested(db, 'deduplicated'),
    },
  ]
}

/** Keygen: `with_lock 'FOR UPDATE NOWAIT'`, then an increment; 409 while another one holds the lock. */
async function incrementLocked(db: pg.Pool, limit: number): Promise<Told> {
  const client = await db.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ uses: number }>('select uses from licenses for update nowait')
    const uses = (rows[0]?.uses ?? 0) + 1
    if (uses <= limit) await client.query('update licenses set uses = $1', [uses])
    await client.query('commit')
    return uses <= limit ? 'allowed' : 'refused'
  } catch (error) {
    await client.query('rollback')
    const isLocked = error instanceof pg.DatabaseError && error.code === '55P03'
    if (isLocked) return 'conflict'
    throw error
  } finally {
    client.release()
  }
}

async function usesOfLicense(db: pg.Pool): Promise<number> {
  const { rows } = await db.query<{ uses: number }>('select uses from licenses')
  return rows[0]?.uses ?? 0
}

async function remaining(db: pg.Pool, name: string): Promise<number> {
  const { rows } = await db.query<{ remaining: number }>('select remaining from keys where name = $1', [name])
  return rows[0]?.remaining ?? 0
}

async function decrement(db: pg.Pool, name: string): Promise<Told> {
  const taken = await db.query(
    'update keys set remaining = remaining - 1 where name = $1 and remaining >= 1',
    [name],
  )
  return taken.rowCount === 1 ? 'allowed' : 'refused'
}

async function lookAndDecrement(db: pg.Pool, name: string): Promise<Told> {
  if ((await remaining(db, name)) < 1) return 'refused'
  await db.query('update keys set remaining = greatest(remaining - 1, 0) where name = $1', [name])
  return 'allowed'
}

async function claimAndDecrement(db: pg.Pool, name: string, key: string): Promise<Told> {
  const claimed = await db.query('insert into claims values ($1) on conflict do nothing', [key])
  if (claimed.rowCount === 0) return 'duplicate'
  const told = await decrement(db, name)
  // What was refused may be sent again under its key.
  if (told === 'refused') await db.query('delete from claims where key = $1', [key])
  return told
}

async function lookAndIngest(db: pg.Pool, limit: number, meter: string, key: string): Promise<Told> {
  if ((await ingested(db, meter)) >= limit) return 'refused'
  await db.query('insert into usage_events values ($1, $2) on conflict do nothing', [meter, key])
  return 'allowed'
}

async function ingested(db: pg.Pool, meter: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    'select count(*)::int as n from usage_events where meter = $1',
    [meter],
  )
  return rows[0]?.n ?? 0
}
