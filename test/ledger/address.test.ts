/** Guarantee: an event store's address means the same under each name of its protocol, and every host in it is asked. */
import { expect, test } from 'vitest'
import { openLogAt } from '../../src/cli/store-location.ts'
import { parseConfig } from '../../src/config.ts'
import { parseAddress } from '../../src/ledger/connection/address.ts'

test.each(['kurrentdb', 'kdb'])('%s:// is esdb://, alone and with +discover', async (name) => {
  for (const rest of ['://store.example:2114?tls=false', '+discover://ada:pa%20ss@one,two:2114?tls=false']) {
    const url = `${name}${rest}`
    expect(parseConfig({ KEYLEDGER_EVENTSTORE_URL: url }).eventstoreUrl).toBe(url)
    expect(parseAddress(url)).toEqual(parseAddress(`esdb${rest}`))
  }
  const { close } = await openLogAt({ urlOrDirectory: `${name}://127.0.0.1:9?tls=false` })
  await close()
})

test('every host of a +discover address is a seed', () => {
  const { target, seeds } = parseAddress('esdb+discover://one.example,two.example:2114?tls=false')
  expect({ target, seeds }).toStrictEqual({
    target: undefined,
    seeds: ['one.example:2113', 'two.example:2114'],
  })
})

test('another scheme is refused with those that are known', () => {
  expect(() => parseConfig({ KEYLEDGER_EVENTSTORE_URL: 'eventstore://x' })).toThrow(
    'must begin with esdb:// or kurrentdb:// or kdb://',
  )
})
