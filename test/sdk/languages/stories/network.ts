import type { Fault } from '../../bad-network.ts'
import { day, type Story, three } from '../tell.ts'

/** A license in use, while this happens on the network. */
const during = (name: string, fault: Fault, leads: string): Story => ({
  name,
  async tell({ open, does, licenses }) {
    await open('unlicensed')
    await does('activate', 'licensed', { text: (await licenses('pro')).keys })
    await does('validate', leads, { faults: three(fault) })
    await does('validate', 'licensed')
  },
})

/** What a network and what stands in it can do. */
export const network: Story[] = [
  during('captive portal that answers with a page', { kind: 'page', status: 200 }, 'not_genuine: offline'),
  during('proxy that refuses', { kind: 'page', status: 403 }, 'not_genuine: offline'),
  during('answers that are cut off', { kind: 'truncated', at: 0.5 }, 'not_genuine: offline'),
  during('answers that arrive late', { kind: 'late', ms: 200 }, 'licensed'),
  during('requests that arrive twice', { kind: 'doubled' }, 'licensed'),
  during('answers that are lost', { kind: 'lost' }, 'offline: offline'),
  {
    name: 'signature in which one bit is another',
    async tell({ open, does, licenses }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      await does('validate', 'not_genuine: offline', { faults: three({ kind: 'forged' }) })
      await open('licensed')
      await does('validate', 'licensed')
    },
  },
  {
    name: 'server under load, with a pause to keep',
    async tell({ open, does, licenses, pass, calls }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      await does('validate', 'rate_limited: offline', {
        faults: [{ kind: 'busy', status: 429, retryAfter: '60' }],
      })
      const before = calls().length
      await does('validate', 'rate_limited: offline')
      if (calls().length > before) throw new Error('the pause was not kept')
      pass(61)
      await does('validate', 'licensed')
    },
  },
  {
    name: 'server that has no store',
    async tell({ open, does, licenses }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      await does('validate', 'unavailable: offline', {
        faults: three({ kind: 'busy', status: 503, retryAfter: '1' }),
      })
    },
  },
  {
    name: 'second attempt that is answered',
    async tell({ open, does, licenses }) {
      await open('unlicensed')
      const { keys } = await licenses('one')
      const faults: Fault[] = [{ kind: 'refused' }, { kind: 'page', status: 502 }]
      await does('activate', 'licensed', { text: keys, faults })
    },
  },
  {
    name: 'old answer, played again after a revocation',
    async tell({ open, does, licenses, pass, revoke }) {
      const licensed = await licenses('pro')
      await open('unlicensed')
      await does('activate', 'licensed', { text: licensed.keys })
      pass(10)
      await does('validate', 'licensed')
      pass(10)
      await revoke(licensed)
      await does('validate', 'revoked', { notices: ['revoked'] })
      await does('validate', 'not_genuine: revoked', { faults: three({ kind: 'stale', back: 1 }) })
    },
  },
  {
    name: 'signing keys that are replaced',
    async tell({ open, does, licenses, replaceKeys, pass }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      await replaceKeys()
      // Other keys sign once every copy of the published ones has them.
      pass(2 * day)
      await replaceKeys()
      // Other keys sign once every copy of the published ones has them.
      pass(2 * day)
      await does('validate', 'licensed')
      await open('licensed')
      await does('validate', 'licensed')
    },
  },
]
