/**
 * A table is described once: its DDL, its writes and the fields of its rows follow. The SQL of every read model stands in
 * `tables.sql`, to be read there; `npx vitest run test/projections/table.test.ts --update` writes it anew.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectors } from '../../projections/projectors.ts'
import { defineTable } from '../../projections/table.ts'

test('the SQL of every table is as it was read last', async () => {
  const tables = projectors.flatMap((projector) => projector.tables)
  const text = tables.map(({ ddl }) => `${ddl};\n`).join('\n')
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'tables.sql'))
})

const columns = {
  tenantId: 'text not null',
  keyHash: 'text not null unique',
  revision: 'int not null',
  endsAt: 'timestamptz',
} as const
const row = { tenantId: 'acme', keyHash: 'h', revision: 3, endsAt: null }

test('a field has the column of its name', () => {
  const { ddl, write, fieldsIn } = defineTable('samples', columns, {
    key: ['tenantId'],
    over: 'nothing',
    constraints: ['check (revision >= 0)'],
    fillFactor: 80,
    indexes: { samples_by_end: '(ends_at) where ends_at is not null' },
  })
  expect(ddl).toBe(`create table samples (
  tenant_id text not null,
  key_hash text not null unique,
  revision int not null,
  ends_at timestamptz,
  primary key (tenant_id),
  check (revision >= 0)
) with (fillfactor = 80);
create index samples_by_end on samples (ends_at) where ends_at is not null`)
  expect(write([])).toStrictEqual([])
  const [statement] = write([{ tenantId: 'acme', keyHash: 'h', revision: 3 }])
  expect(statement?.values).toStrictEqual(['[{"tenant_id":"acme","key_hash":"h","revision":3}]'])
  const joined = { tenant_id: 'acme', key_hash: 'h', revision: 3, ends_at: null, of_another_table: 1 }
  expect(fieldsIn(joined)).toStrictEqual(row)
})

test.each([
  ['nothing', 'on conflict (tenant_id, key_hash) do nothing'],
  ['row', 'do update set revision = excluded.revision, ends_at = excluded.ends_at'],
  ['older row', 'ends_at = excluded.ends_at where samples.revision < excluded.revision'],
  [
    'sum',
    'do update set revision = samples.revision + excluded.revision, ends_at = samples.ends_at + excluded.ends_at',
  ],
] as const)('over: %s', (over, ending) => {
  const { write } = defineTable('samples', columns, { key: ['tenantId', 'keyHash'], over })
  expect(write([row])[0]?.text.endsWith(ending)).toBe(true)
})

test('of merged columns the first value stays, or the greatest', () => {
  const { write } = defineTable('samples', columns, {
    key: ['tenantId'],
    over: 'row',
    merged: { keyHash: 'first', revision: 'greatest' },
  })
  const updated =
    'update set revision = greatest(samples.revision, excluded.revision), ends_at = excluded.ends_at'
  expect(write([row])[0]?.text.endsWith(updated)).toBe(true)
})

test('a condition bounds which rows are written', () => {
  const where = 'not exists (select from others o where o.key_hash = r.key_hash)'
  const { write } = defineTable('samples', columns, { key: ['tenantId'], over: 'nothing', where })
  expect(write([row])[0]?.text).toContain(`json_populate_recordset(null::samples, $1) r where ${where}\n`)
})
