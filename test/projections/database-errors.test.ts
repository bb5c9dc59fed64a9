/** Guarantee: an unavailable database is distinguished from an invalid statement. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { isDatabaseFailure } from '../../projections/database/errors.ts'

/** An error as Postgres reports it. */
function refusal(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('refused', 0, 'error')
  error.code = code
  return error
}

test.each([
  ['53100', 'the disk is full'],
  ['58030', 'the disk reports an error'],
  ['58P01', 'a file is missing'],
  ['57P03', 'the database is starting'],
])('the error %s means that the database is unavailable: %s', (code) => {
  expect(isDatabaseFailure(refusal(code))).toBe(true)
})

test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])(
  '%s while connecting means that the database is unavailable',
  (code) => {
    expect(isDatabaseFailure(Object.assign(new Error('connect'), { code }))).toBe(true)
  },
)

test.each(['Client was closed and is not queryable', 'timeout expired'])(
  'the client error "%s" means that the database is unavailable',
  (message) => {
    expect(isDatabaseFailure(new Error(message))).toBe(true)
  },
)

test.each(['23505', '42P01', 'XX000'])(
  'the error %s does not mean that the database is unavailable',
  (code) => {
    expect(isDatabaseFailure(refusal(code))).toBe(false)
  },
)
