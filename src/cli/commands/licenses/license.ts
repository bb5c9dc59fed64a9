import { z } from 'zod'
import { withStores } from '../../../app/with-stores.ts'
import { revokeLicense } from '../../../commands/licenses/licenses.ts'
import { licenseDetail } from '../../../http/licenses/detail.ts'
import { fields, print } from '../../../terminal/output.ts'
import { hostOptionsIn } from '../../host-form.ts'
import { momentTyped, viewLicense } from './view.ts'

/** `keyledger licenses show <id> --tenant <id>`: a license with its devices, now or at a past moment. */
export function showOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({ asOf: z.string().optional() }, given)
  return withStores(async ({ ports }, origin) => {
    const moment = momentTyped(options.asOf, '--as-of')
    await viewLicense(ports, options.tenant, id, options.asOf, origin)
    const view = await licenseDetail(ports, options.tenant, id, moment)
    print(options, view, () => fields(view))
  })
}

/** `keyledger licenses revoke <id> --tenant <id>`: no approval is needed on the host. */
export function revokeOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({ reason: z.string().optional() }, given)
  return withStores(async ({ ports }, origin) => {
    await revokeLicense(ports, options.tenant, id, options.reason ?? null, origin)
    const view = await licenseDetail(ports, options.tenant, id, undefined)
    print(options, view, () => [`License ${id} is revoked.`])
  })
}
