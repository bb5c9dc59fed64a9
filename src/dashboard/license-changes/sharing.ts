import { allowSharing } from '../../commands/licenses/sharing.ts'
import { changeInput, licenseChange, withReason } from './change.ts'

const form = { schema: withReason({}), values: () => ({}), fields: () => null }

/** Offered while a notice of sharing is open. */
export const allowUse = licenseChange({
  name: 'allow-sharing',
  label: 'Allow this use',
  title: 'Allow this use',
  button: 'Allow this use',
  lead: () =>
    'The license looks shared. If its use is fine, the notice is closed, and no rule about key sharing notices this license any more.',
  fits: ({ sharing }) => sharing !== null && sharing.openSince !== null,
  ...form,
  async run(ports, about, typed, origin) {
    await allowSharing(ports, { ...changeInput(about, typed), allowed: true }, origin)
    return undefined
  },
})

/** Offered for a license whose use was allowed. */
export const watchUse = licenseChange({
  name: 'watch-sharing',
  label: 'Watch for sharing',
  title: 'Watch for sharing',
  button: 'Watch for sharing',
  lead: () => 'The rules of its product about key sharing notice this license again.',
  fits: ({ sharing }) => sharing?.allowed === true,
  ...form,
  async run(ports, about, typed, origin) {
    await allowSharing(ports, { ...changeInput(about, typed), allowed: false }, origin)
    return undefined
  },
})
