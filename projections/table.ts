import { type Statement, writesOf } from './statements.ts'

/** What a column of each type holds. Times are strings, as in the log. */
type Values = {
  text: string
  uuid: string
  timestamptz: string
  date: string
  /** As text where it may be more than a number holds. */
  bigint: string | number
  /** Whole numbers of any size, as text. */
  numeric: string
  int: number
  boolean: boolean
  json: unknown
  jsonb: unknown
  'text[]': readonly string[]
  'int[]': readonly number[]
}
type Type = keyof Values
type Suffix = '' | ' unique'

/** The definition of a column: a type, and whether it may be null or must be unique. */
export type Column = `${Type}${'' | ' not null'}${Suffix}`
export type Columns = Readonly<Record<string, Column>>

/** The columns that hold these fields: a field that may be null has a column that may be. */
export type ColumnsOf<Fields> = {
  readonly [Name in keyof Fields]-?: null extends Fields[Name]
    ? `${Type}${Suffix}`
    : `${Type} not null${Suffix}`
}

export type ValueOf<Definition> = Definition extends `${infer Of extends Type} not null${Suffix}`
  ? Values[Of]
  : Definition extends `${infer Of extends Type}${Suffix}`
    ? Values[Of] | null
    : never

/** `keyTypeId` is the field of the column `key_type_id`. */
type ColumnName<Field> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : Field

const columnName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A row as Postgres returns it, of a table with these fields. */
export type RowOf<Fields> = { [Name in keyof Fields as ColumnName<Name> & string]: Fields[Name] }

export type FieldsOf<Definition extends Columns> = {
  -readonly [Name in keyof Definition]: ValueOf<Definition[Name]>
}

export type TableOptions<Name extends string> = {
  key: readonly Name[]
  /** Further constraints, as in SQL. */
  constraints?: readonly string[]
  /** How full a page is filled, in percent: what is often updated leaves room for the next version of a row. */
  fillFactor?: number
  /** By name: what follows `create index … on …`. */
  indexes?: Readonly<Record<string, string>>
  /**
   * What is written over a row with the same key: nothing; all columns that are not of the key; these only when the written row
   * has a greater `revision`; or the sums of these and those that were there. Written rows with the same key are added up as well.
   */
  over: 'nothing' | 'row' | 'older row' | 'sum'
  /** Columns of a written row that do not replace what was there: the first value stays, or the greatest. */
  merged?: Readonly<Partial<Record<Name, 'first' | 'greatest'>>>
  /** Which rows are written, as a condition on `r`; without it, all. */
  where?: string
}

type Nullable<Fields> = { [Name in keyof Fields]: null extends Fields[Name] ? Name : never }[keyof Fields]

/** A row to write: a field that may be null may be left out. */
export type Written<Fields> = Omit<Fields, Nullable<Fields>> & Partial<Pick<Fields, Nullable<Fields>>>

/** A table of a read model, described once: its DDL, its writes and the types of its rows follow. */
export type Table<Fields extends object> = {
  name: string
  ddl: string
  /** The statement that writes rows; none when there are no rows. */
  write(rows: readonly Written<Fields>[]): Statement[]
  /** The fields of a row that Postgres returned. Columns of other tables in it are left out. */
  fieldsIn(row: RowOf<Fields>): Fields
}

/**
 * @param columns by the names of the fields, from which those of the columns follow: `keyTypeId` for `key_type_id`
 */
export function defineTable<const Definition extends Columns>(
  name: string,
  columns: Definition,
  options: TableOptions<keyof Definition & string>,
): Table<FieldsOf<Definition>>
/** Of fields that a type has already, which the definitions must fit. */
export function defineTable<Fields extends object>(
  name: string,
  columns: ColumnsOf<Fields>,
  options: TableOptions<keyof Fields & string>,
): Table<Fields>
export function defineTable(
  name: string,
  columns: Columns,
  { key, constraints = [], fillFactor, indexes = {}, over, merged = {}, where }: TableOptions<string>,
): Table<Record<string, unknown>> {
  const names = Object.keys(columns).map((field) => ({ field, column: columnName(field) }))
  const primaryKey = key.map(columnName).join(', ')
  const lines = [
    ...names.map(({ field, column }) => `${column} ${columns[field]}`),
    `primary key (${primaryKey})`,
    ...constraints,
  ]
  const storage = fillFactor === undefined ? '' : ` with (fillfactor = ${fillFactor})`
  const created = Object.entries(indexes).map(([index, of]) => `create index ${index} on ${name} ${of}`)
  const written = names.flatMap(({ field, column }) => (key.includes(field) ? [] : [column]))
  const replacing = names.flatMap(({ field, column }) => {
    if (key.includes(field) || merged[field] === 'first') return []
    const greatest = merged[field] === 'greatest'
    return [
      `${column} = ${greatest ? `greatest(${name}.${column}, excluded.${column})` : `excluded.${column}`}`,
    ]
  })
  const replaced = `update set ${replacing.join(', ')}`
  const action = {
    nothing: 'nothing',
    row: replaced,
    'older row': `${replaced} where ${name}.revision < excluded.revision`,
    sum: `update set ${written.map((column) => `${column} = ${name}.${column} + excluded.${column}`).join(', ')}`,
  }[over]
  const insert = `
    insert into ${name} select r.* from json_populate_recordset(null::${name}, $1) r${where ? ` where ${where}` : ''}
    on conflict (${primaryKey}) do ${action}`

  function rowOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const row: Record<string, unknown> = {}
    for (const { field, column } of names) row[column] = fields[field]
    return row
  }

  return {
    name,
    ddl: [`create table ${name} (\n  ${lines.join(',\n  ')}\n)${storage}`, ...created].join(';\n'),
    write(fields) {
      const rows = fields.map(rowOf)
      return writesOf(`write-${name}`, insert, over === 'sum' ? summed(rows, written) : rows)
    },
    fieldsIn(row) {
      const fields: Record<string, unknown> = {}
      for (const { field, column } of names) fields[field] = row[column]
      return fields
    },
  }
}

/** What a table holds, by the names of the fields. */
export type RowIn<Of> = Of extends Table<infer Fields> ? Fields : never

/**
 * Adds up the counts of rows with the same key, in the order of the keys. A row whose counts cancel out stays, so that the
 * table does not depend on how events are divided into batches.
 * @param counts the fields that are added up; all others are the key
 */
export function summed<Row extends object>(
  rows: readonly Row[],
  counts: readonly (keyof Row & string)[],
): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = JSON.stringify(
      Object.entries(row).filter(([name]) => !counts.some((count) => count === name)),
    )
    const sum = sums.get(key)
    const added = sum && Object.fromEntries(counts.map((name) => [name, plus(sum[name], row[name])]))
    sums.set(key, { ...row, ...added })
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** Text holds numbers of any size, which a floating-point number does not. */
const plus = (one: unknown, other: unknown): string | number =>
  typeof one === 'string' ? String(BigInt(one) + BigInt(String(other))) : Number(one) + Number(other)
