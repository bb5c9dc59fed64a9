/** Calls count per address, and per /64 for IPv6. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callerOf, plainAddress } from '../../src/limits/address.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:1:2::3', '2001:db8:0:1::/64'],
  ['2001:db8:a:b::', '2001:db8:a:b::/64'],
  ['2001:0DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:db8::1:0:0:0:1', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
  ['192.0.2.1:443', '192.0.2.1:443'],
  ['nonsense::nonsense', 'nonsense::nonsense'],
])('%s calls as %s', (address, caller) => expect(callerOf(address)).toBe(caller))

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:FFFF:C000:0201', '192.0.2.1'],
  ['::ffff:192.0.2.1%2', '192.0.2.1'],
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::', '::'],
  ['::1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['nonsense::nonsense', 'nonsense::nonsense'],
])('%s is shown as %s', (address, shown) => expect(plainAddress(address)).toBe(shown))

describe('any two IPv6 addresses', () => {
  const host = fc.ipV6()
  test('are one caller exactly when their first 64 bits are equal, however they are written', () =>
    fc.assert(
      fc.property(host, host, fc.boolean(), (left, right, sameNetwork) => {
        const [one, other] = [bitsOf(left), bitsOf(right)]
        const there = sameNetwork ? [...one.slice(0, 4), ...other.slice(4)] : other
        if (isMapped(one) || isMapped(there)) return
        const same = one.slice(0, 4).join() === there.slice(0, 4).join()
        const long = there.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':')
        const short = there.map((group) => group.toString(16)).join(':')
        for (const written of [long, short]) expect(callerOf(left) === callerOf(written)).toBe(same)
      }),
    ))
})

/** An independent implementation: the address as the platform writes it. */
function bitsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]/`)
  const [front = '', back = ''] = hostname.slice(1, -1).split('::')
  const numbers = (text: string) =>
    text
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16))
  const [first, last] = [numbers(front), numbers(back)]
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}

const isMapped = (groups: readonly number[]): boolean =>
  groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
