import { day, type Story, three } from '../tell.ts'

/** An app before it has a license. */
export const firstUse: Story[] = [
  {
    name: 'first launch',
    async tell({ open, does, sees }) {
      await open('unlicensed')
      await does('validate', 'unlicensed')
      await sees('has', 'export', false)
      await sees('value', 'seats', undefined)
    },
  },
  {
    name: 'first launch without a network',
    async tell({ open, does, calls }) {
      await open('unlicensed')
      await does('validate', 'offline: unlicensed', { faults: three({ kind: 'refused' }) })
      expectNothing(calls())
      await does('validate', 'unlicensed')
    },
  },
  {
    name: 'trial, to its end',
    async tell({ open, does, pass }) {
      await open('unlicensed')
      await does('startTrial', 'trial')
      pass(13 * day)
      await does('validate', 'trial')
      pass(2 * day)
      await does('look', 'expired')
      await does('startTrial', 'expired')
      await does('validate', 'expired')
    },
  },
  {
    name: 'trial that begins without a network',
    async tell({ open, does, pass }) {
      await open('unlicensed', { defaultTrialDays: 7 })
      await does('startTrial', 'trial', {
        faults: [...three({ kind: 'refused' }), ...three({ kind: 'refused' })],
      })
      pass(3 * day)
      await does('validate', 'trial')
      pass(8 * day)
      await does('look', 'trial')
      // Counted from when the server has learned of it.
      pass(7 * day)
      await does('look', 'expired')
    },
  },
  {
    name: 'trial on a machine that has had one',
    async tell({ open, does, pass }) {
      await open('unlicensed')
      await does('startTrial', 'trial')
      pass(20 * day)
      await open('unlicensed', {}, 'installed-again')
      await does('startTrial', 'expired')
    },
  },
  {
    name: 'product without a trial',
    async tell({ open, does }) {
      await open('unlicensed', { productId: 'viewer' })
      await does('startTrial', 'no_trial: free')
    },
  },
  {
    name: 'free tier, then a license, then free again',
    async tell({ open, does, licenses }) {
      await open('unlicensed', { productId: 'viewer' })
      await does('validate', 'free')
      const { keys } = await licenses('pro')
      await does('activate', 'licensed', { text: keys })
      await does('deactivate', 'free')
    },
  },
  {
    name: 'app with a wrong SDK key',
    async tell({ open, does }) {
      await open('unlicensed', { sdkKey: 'kl_sdk_wrong' })
      await does('validate', 'misconfigured: unlicensed')
      await does('activate', 'misconfigured: unlicensed', { text: 'ACME-1' })
    },
  },
  {
    name: 'settings that are not signed, where they have to be',
    async tell({ open, does }) {
      await open('unlicensed', { productId: 'viewer', enforceSettings: true })
      await does('validate', 'not_genuine: unlicensed')
      await open('unlicensed', { enforceSettings: true })
      await does('startTrial', 'trial')
    },
  },
]

function expectNothing(calls: readonly string[]): void {
  if (calls.length > 0) throw new Error(`nothing was to reach the server, and ${calls.join()} did`)
}
