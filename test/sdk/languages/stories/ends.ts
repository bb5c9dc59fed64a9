import { day, type Story, three } from '../tell.ts'

/** How a license ends, and comes back. */
export const ends: Story[] = [
  {
    name: 'revoked',
    async tell({ open, does, licenses, pass, revoke }) {
      const licensed = await licenses('pro')
      await open('unlicensed')
      await does('activate', 'licensed', { text: licensed.keys })
      pass(10)
      await revoke(licensed)
      await does('validate', 'revoked', { notices: ['revoked'] })
      await open('revoked')
      await does('activate', 'revoked: revoked', { text: licensed.keys })
    },
  },
  {
    name: 'revoked while offline',
    async tell({ open, does, licenses, pass, revoke }) {
      const licensed = await licenses('pro')
      await open('unlicensed')
      await does('activate', 'licensed', { text: licensed.keys })
      pass(10)
      await revoke(licensed)
      await does('validate', 'offline: offline', { faults: three({ kind: 'refused' }) })
      pass(day)
      await does('validate', 'revoked', { notices: ['revoked'] })
    },
  },
  {
    name: 'suspended and resumed',
    async tell({ open, does, licenses, pass }) {
      const licensed = await licenses('pro')
      await open('unlicensed')
      await does('activate', 'licensed', { text: licensed.keys })
      pass(10)
      await licensed.each('POST', '/suspend', {})
      await does('validate', 'revoked', { notices: ['revoked'] })
      pass(10)
      await licensed.each('POST', '/resume', {})
      await does('validate', 'licensed', { notices: ['restored'] })
    },
  },
  {
    name: 'near its end, expired, renewed',
    async tell({ open, does, licenses, pass, isoIn }) {
      const month = await licenses('month')
      await open('unlicensed')
      await does('activate', 'licensed', { text: month.keys })
      pass(24 * day)
      await does('validate', 'licensed', { notices: ['expiring'] })
      await open('licensed', {}, undefined, ['expiring'])
      pass(7 * day)
      await does('validate', 'expired')
      pass(10)
      await month.each('PATCH', '', { expiresAt: isoIn(300 * day) })
      await does('validate', 'licensed', { notices: ['renewed'] })
    },
  },
  {
    name: 'expired, with a fallback',
    async tell({ open, does, sees, licenses, pass }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('fallback')).keys })
      pass(31 * day)
      await does('validate', 'fallback')
      await sees('has', 'export', false)
      await sees('has', 'view', true)
      await does('validate', 'offline: offline', { faults: three({ kind: 'refused' }) })
      await sees('has', 'view', true)
    },
  },
  {
    name: 'too long without a network',
    async tell({ open, does, sees, licenses, pass }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      await does('validate', 'offline: offline', { faults: three({ kind: 'refused' }) })
      await sees('has', 'pro', true)
      pass(8 * day)
      await does('look', 'expired')
      await sees('has', 'pro', false)
      await open('expired')
      await does('validate', 'licensed', { notices: ['restored'] })
    },
  },
  {
    name: 'new license key for an old one',
    async tell({ open, does, licenses, pass }) {
      const licensed = await licenses('pro')
      await open('unlicensed')
      await does('activate', 'licensed', { text: licensed.keys })
      pass(10)
      const answers = await licensed.each('POST', '/remint', { keepDevices: true })
      await does('validate', 'revoked', { notices: ['revoked'] })
      const text = answers.map((answer) => (answer as { licenseKey: string }).licenseKey)
      await does('activate', 'licensed', { text, notices: ['restored'] })
    },
  },
  {
    name: 'purchase that the server learns of',
    async tell({ open, does, licenses, isoIn }) {
      const month = await licenses('month')
      await open('unlicensed')
      await does('activate', 'licensed', { text: month.keys })
      await month.each('PATCH', '', { expiresAt: isoIn(300 * day) })
      await does('refreshAfterPurchase', 'licensed', { notices: ['renewed'] })
    },
  },
]
