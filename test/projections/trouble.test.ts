/** Guarantee: an unavailable database is distinguished from a wrong statement. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { isDatabaseTrouble } from '../../projections/database/trouble.ts'

/** An error as Postgres reports it. */
function refusal(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('refused', 0, 'error')
  error.code = code
  return error
}

test.each([
  ['53100', 'its disk is full'],
  ['58030', 'its disk reports an error'],
  ['58P01', 'a file of it is gone'],
  ['57P03', 'it is starting'],
])('%s: %s', (code) => {
  expect(isDatabaseTrouble(refusal(code))).toBe(true)
})

test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])('%s while connecting', (code) => {
  expect(isDatabaseTrouble(Object.assign(new Error('connect'), { code }))).toBe(true)
})

test.each(['Client was closed and is not queryable', 'timeout expired'])(
  'an error of the client: %s',
  (message) => {
    expect(isDatabaseTrouble(new Error(message))).toBe(true)
  },
)

test.each(['23505', '42P01', 'XX000'])('%s does not mean that it is unavailable', (code) => {
  expect(isDatabaseTrouble(refusal(code))).toBe(false)
})
