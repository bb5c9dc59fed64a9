/**
 * Guarantee: nothing is delivered to an address outside the public internet: not to the machine itself, not to its
 * networks, and in none of the notations that embed such an address in another one.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTargetCheck, faultOfUrl, isPublicAddress, resolveByDns } from '../../src/webhooks/targets.ts'

const publicAddresses = [
  '93.184.215.14',
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '203.0.114.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '3ffe:ffff::1',
  '3fff:1000::1',
]
test.each(publicAddresses)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))

const others: [what: string, addresses: string[]][] = [
  ['the machine itself', ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']],
  ['unspecified, or this network', ['0.0.0.0', '0.255.255.255', '::']],
  [
    'private',
    ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  ],
  ['shared by a carrier (carrier-grade NAT)', ['100.64.0.0', '100.127.255.255']],
  [
    'link-local, as of cloud metadata',
    ['169.254.0.0', '169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  ],
  ['unique-local', ['fc00::', 'fd00:ec2::254', 'fdff:ffff::1']],
  ['site-local', ['fec0::1']],
  ['multicast or broadcast', ['224.0.0.0', '239.255.255.255', '255.255.255.255', 'ff02::1', 'ff0e::1']],
  ['reserved', ['240.0.0.1', '192.0.0.1', '192.0.0.255', '4000::1', 'e000::1', '100::1']],
  ['for benchmarks', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
  [
    'for documentation',
    ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '2001:db8:ffff::1', '3fff::1', '3fff:fff::1'],
  ],
  ['IPv4 mapped', ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:93.184.215.14', '::ffff:5db8:d70e']],
  ['IPv4 compatible or translated', ['::127.0.0.1', '::5db8:d70e', '::ffff:0:93.184.215.14']],
  ['NAT64', ['64:ff9b::7f00:1', '64:ff9b::93.184.215.14', '64:ff9b:1::1']],
  ['6to4', ['2002:7f00:1::', '2002:5db8:d70e::1', '192.88.99.1']],
  [
    'Teredo or another special-purpose range of 2001::/23',
    ['2001::1', '2001:0:5db8:d70e::1', '2001:10::1', '2001:20::1', '2001:1ff::1'],
  ],
  ['no address at all', ['', 'localhost', '1.2.3', '1.2.3.4.5', '::g', '[::1]', '127.1', '2130706433']],
]
describe.each(others)('an address that is %s', (_, addresses) => {
  test.each(addresses)('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
})

test('an embedded address is never public', () => {
  const bytes = fc.array(fc.nat({ max: 255 }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(bytes, ([a = 0, b = 0, c = 0, d = 0]) => {
      const dotted = [a, b, c, d].join('.')
      const hex = [(a << 8) | b, (c << 8) | d].map((half) => half.toString(16)).join(':')
      for (const wrapped of [
        `::ffff:${dotted}`,
        `::${dotted}`,
        `64:ff9b::${dotted}`,
        `2002:${hex}::1`,
        `2001:0:${hex}::1`,
      ]) {
        expect(isPublicAddress(wrapped)).toBe(false)
      }
    }),
  )
})

const strict = { allowPrivate: false }
const lax = { allowPrivate: true }

describe('the check of a URL without resolution', () => {
  const cases: [
    url: string,
    fault: ReturnType<typeof faultOfUrl>,
    inDevelopment: ReturnType<typeof faultOfUrl>,
  ][] = [
    ['https://hooks.example.com/a?b=c', undefined, undefined],
    ['https://hooks.example.com:8443/', undefined, undefined],
    ['https://93.184.215.14/', undefined, undefined],
    ['https://[2606:4700:4700::1111]/', undefined, undefined],
    ['http://hooks.example.com/', 'not https', undefined],
    ['ftp://hooks.example.com/', 'not https', 'not https'],
    ['file:///etc/passwd', 'not https', 'not https'],
    ['javascript:alert(1)', 'not https', 'not https'],
    ['https://ada@hooks.example.com/', 'credentials', 'credentials'],
    ['https://:secret@hooks.example.com/', 'credentials', 'credentials'],
    ['https://10.0.0.1/', 'not public', undefined],
    ['https://2130706433/', 'not public', undefined],
    ['https://0x7f.1/', 'not public', undefined],
    ['https://0177.0.0.1/', 'not public', undefined],
    ['https://127.1/', 'not public', undefined],
    ['https://127.0.0.1./', 'not public', undefined],
    ['https://１２７.0.0.1/', 'not public', undefined],
    ['https://[::1]/', 'not public', undefined],
    ['https://[::ffff:8.8.8.8]/', 'not public', undefined],
    ['https://[64:ff9b::8.8.8.8]/', 'not public', undefined],
    ['https://localhost/', 'not public', undefined],
    ['https://LOCALHOST./', 'not public', undefined],
    ['https://api.localhost:8443/', 'not public', undefined],
    ['https://localhost.example.com/', undefined, undefined],
    ['https://notlocalhost/', undefined, undefined],
  ]
  test.each(cases)('%s: %s', (url, fault, inDevelopment) => {
    expect(faultOfUrl(new URL(url), strict)).toBe(fault)
    expect(faultOfUrl(new URL(url), lax)).toBe(inDevelopment)
  })
})

describe('a host name', () => {
  const meaning = (...addresses: string[]) => {
    const asked: string[] = []
    const resolve = (host: string) => {
      asked.push(host)
      return Promise.resolve(addresses)
    }
    return { asked, resolve }
  }
  const url = new URL('https://Hooks.example.com./a')

  test.each<[string, string[], 'not public' | undefined]>([
    ['public addresses only passes', ['93.184.215.14', '2606:4700:4700::1111'], undefined],
    ['a private address does not', ['10.0.0.1'], 'not public'],
    ['one private address among public ones does not', ['93.184.215.14', '::1'], 'not public'],
    ['a mapped address does not', ['::ffff:93.184.215.14'], 'not public'],
    ['no address passes for now', [], undefined],
  ])('with %s', async (_, addresses, fault) => {
    const { asked, resolve } = meaning(...addresses)
    expect(await createTargetCheck(resolve, strict)(url)).toBe(fault)
    expect(asked).toStrictEqual(['hooks.example.com'])
  })

  test('is not resolved when the URL alone decides the check', async () => {
    const { asked, resolve } = meaning('10.0.0.1')
    const check = createTargetCheck(resolve, strict)
    expect(await check(new URL('http://hooks.example.com/'))).toBe('not https')
    expect(await check(new URL('https://93.184.215.14/'))).toBeUndefined()
    expect(await check(new URL('https://[2606:4700:4700::1111]/'))).toBeUndefined()
    expect(await createTargetCheck(resolve, lax)(url)).toBeUndefined()
    expect(asked).toStrictEqual([])
  })

  test('that does not exist has no address', async () => {
    expect(await resolveByDns('nothing.invalid')).toStrictEqual([])
    expect(await resolveByDns('not a name')).toStrictEqual([])
  })
})
