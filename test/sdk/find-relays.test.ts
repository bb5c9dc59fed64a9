/** Guarantee: an app finds the relays that its environment or its network names, in their order, and none when nothing does. */
import { expect, test } from 'vitest'
import { findRelays, type Network } from '../../src/sdk/javascript/node/index.ts'

const record = (name: string, port: number, priority: number, weight = 0) => ({
  name,
  port,
  priority,
  weight,
})
const networkOf = ({
  env = {},
  resolver,
  records = {},
}: {
  env?: Network['env']
  resolver?: string
  records?: Record<string, ReturnType<typeof record>[]>
}): Network => ({
  env,
  resolverFile: async () => resolver,
  async resolveSrv(name) {
    const found = records[name]
    if (!found) throw new Error(`querySrv ENOTFOUND ${name}`)
    return found
  },
})

test('the variable comes before the DNS', async () => {
  const network = networkOf({
    env: { KEYLEDGER_RELAY: ' http://one:8090, https://two ,' },
    resolver: 'search corp.example\n',
    records: { '_keyledger._tcp.corp.example': [record('three', 8090, 0)] },
  })
  expect(await findRelays({}, network)).toStrictEqual(['http://one:8090', 'https://two'])
})

test('records are taken by priority, then by weight, from the first domain that has some', async () => {
  const network = networkOf({
    resolver: '# of the network\nnameserver 10.0.0.1\ndomain old.example\nsearch lab.example corp.example\n',
    records: {
      '_keyledger._tcp.old.example': [record('never', 1, 0)],
      '_keyledger._tcp.corp.example': [
        record('late.corp.example.', 8090, 20),
        record('light.corp.example', 8090, 10, 1),
        record('heavy.corp.example', 8091, 10, 9),
      ],
    },
  })
  expect(await findRelays({}, network)).toStrictEqual([
    'http://heavy.corp.example:8091',
    'http://light.corp.example:8090',
    'http://late.corp.example:8090',
  ])
  expect(await findRelays({ domain: 'old.example', protocol: 'https' }, network)).toStrictEqual([
    'https://never:1',
  ])
})

test.each<[string, Network]>([
  ['nothing names one', networkOf({})],
  ['the network has no such record', networkOf({ resolver: 'search corp.example' })],
  [
    'the record says that there is none',
    networkOf({ env: { USERDNSDOMAIN: 'CORP' }, records: { '_keyledger._tcp.CORP': [record('.', 0, 0)] } }),
  ],
])('none is found when %s', async (_, network) => {
  expect(await findRelays({}, network)).toStrictEqual([])
})
