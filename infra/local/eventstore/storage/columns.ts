import type { SQLOutputValue } from 'node:sqlite'

export type Row = Record<string, SQLOutputValue>

/** Reads a column with a check, so that an invalid database fails here instead of later. */
export function integer(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`column ${column} holds no integer`)
  return value
}

export function optionalInteger(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : integer(row, column)
}

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} holds no text`)
  return value
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`column ${column} holds no bytes`)
  return value
}
