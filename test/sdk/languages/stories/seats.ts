import { type Story, three } from '../tell.ts'

/** Another device takes a seat. */
const another = (
  licenses: { keys: string[] },
  { api, tenant, sdkKey }: { api: Ask; tenant: Id; sdkKey: string },
) =>
  Promise.all(
    licenses.keys.map((license_key) =>
      api.ask('POST', `/${tenant.tenantId}/editor/activate`, {
        headers: { 'x-service-sdk-key': sdkKey },
        body: { license_key, instance_name: 'Another', free_tier_instance_id: license_key },
      }),
    ),
  )
type Ask = { ask(method: 'POST', url: string, options: object): Promise<unknown> }
type Id = { tenantId: string }

/** Taking a seat and giving it back. */
export const seats: Story[] = [
  {
    name: 'activation',
    async tell({ open, does, sees, licenses }) {
      const { keys } = await licenses('studio')
      await open('unlicensed')
      await does('activate', 'licensed', { text: keys })
      await sees('has', 'export', true)
      await sees('has', 'print', false)
      await sees('value', 'seats', 25)
      await sees('value', 'export', true)
      await open('licensed')
      await sees('value', 'seats', 25)
      await does('validate', 'licensed')
    },
  },
  {
    name: 'license key typed as people type',
    async tell({ open, does, licenses }) {
      const { keys } = await licenses('one')
      await open('unlicensed')
      const typed = keys.map((key) => ` ${key.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')} `)
      await does('activate', 'licensed', { text: typed })
      await does('validate', 'licensed')
    },
  },
  {
    name: 'license key that there is not',
    async tell({ open, does }) {
      await open('unlicensed')
      await does('activate', 'not_found: unlicensed', { text: 'ACME-0000-NONE' })
      await does('deactivate', 'no_license: unlicensed')
    },
  },
  {
    name: 'license chosen in the browser',
    async tell({ open, does, licenses, decideInBrowser }) {
      const chosen = await licenses('one', { email: 'ada@example.com' })
      await open('unlicensed')
      decideInBrowser(chosen)
      await does('activateInBrowser', 'licensed', {
        faults: [{ kind: 'none' }, { kind: 'refused' }, { kind: 'lost' }],
      })
      await does('validate', 'licensed')
    },
  },
  {
    name: 'no license chosen in the browser',
    async tell({ open, does, decideInBrowser }) {
      await open('unlicensed')
      await does('activateInBrowser', 'offline: unlicensed', { faults: three({ kind: 'refused' }) })
      decideInBrowser(undefined)
      await does('activateInBrowser', 'refused: unlicensed')
    },
  },
  {
    name: 'seats full, then one is free',
    async tell({ open, does, licenses, stage, takeSeats }) {
      const full = await licenses('one')
      await another(full, stage)
      await open('unlicensed')
      await does('activate', 'seat_limit_reached: unlicensed', { text: full.keys })
      await takeSeats(full)
      await does('activate', 'licensed', { text: full.keys })
    },
  },
  {
    name: 'seats full, with another license in use',
    async tell({ open, does, licenses, stage }) {
      const full = await licenses('one')
      await another(full, stage)
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      await does('activate', 'seat_limit_reached: licensed', { text: full.keys })
      await does('validate', 'licensed')
    },
  },
  {
    name: 'activation whose answer is lost takes one seat',
    async tell({ open, does, licenses }) {
      const one = await licenses('one')
      await open('unlicensed')
      await does('activate', 'offline: unlicensed', { text: one.keys, faults: three({ kind: 'lost' }) })
      await does('activate', 'licensed', { text: one.keys, faults: [{ kind: 'lost' }] })
      await does('activate', 'licensed', { text: one.keys, faults: [{ kind: 'doubled' }] })
    },
  },
  {
    name: 'seat given back, and taken by another',
    async tell({ open, does, licenses, stage }) {
      const one = await licenses('one')
      await open('unlicensed')
      await does('activate', 'licensed', { text: one.keys })
      await does('deactivate', 'unlicensed')
      await another(one, stage)
      await does('activate', 'seat_limit_reached: unlicensed', { text: one.keys })
    },
  },
  {
    name: 'giving back without a network',
    async tell({ open, does, licenses }) {
      const one = await licenses('one')
      await open('unlicensed')
      await does('activate', 'licensed', { text: one.keys })
      await does('deactivate', 'offline: licensed', { faults: three({ kind: 'refused' }) })
      await does('deactivate', 'unlicensed', { faults: [{ kind: 'lost' }] })
      await does('deactivate', 'no_license: unlicensed')
    },
  },
  {
    name: 'seat taken away by the vendor',
    async tell({ open, does, licenses, stage, takeSeats, pass }) {
      const one = await licenses('one')
      await open('unlicensed')
      await does('activate', 'licensed', { text: one.keys })
      pass(10)
      await takeSeats(one)
      await another(one, stage)
      await does('validate', 'revoked', { notices: ['revoked'] })
      await does('activate', 'seat_limit_reached: revoked', { text: one.keys })
    },
  },
]
