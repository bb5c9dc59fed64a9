import { z } from 'zod'
import { countLicenses } from '../../../projections/licenses/count.ts'
import { licensePages, type OpenedLicense } from '../../commands/licenses/pages.ts'
import { momentOf } from '../../commands/origin.ts'
import { licenseStatuses } from '../../domain/licenses/status.ts'
import { quoted } from '../../domain/plain-text.ts'
import { Refusal } from '../../domain/refusal.ts'
import { confirmationStream } from '../../domain/streams.ts'
import { Slug } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'

/** The formats of an export. */
export const exportFormats = ['ndjson', 'csv'] as const

const query = z.strictObject({
  format: z
    .enum(exportFormats)
    .default('ndjson')
    .meta({ description: 'One line per license, as JSON or CSV' }),
  product: Slug.optional().meta({
    description: 'Only licenses of the product with this id',
    example: 'editor',
  }),
  status: z
    .enum(licenseStatuses)
    .optional()
    .meta({ description: 'Only licenses with this status', example: 'active' }),
})

/** An export; its pages are read as they are consumed. */
export type LicenseExport = {
  format: (typeof exportFormats)[number]
  /** The time of the export, which decides which licenses are active or expired. */
  now: string
  pages: AsyncIterable<OpenedLicense[]>
}

const names = { ndjson: 'JSON lines', csv: 'CSV' }

export const exportLicenses = gatedOperation({
  name: 'license.export',
  title: 'Export licenses',
  method: 'GET',
  path: '/v1/licenses/export',
  streams: true,
  scope: 'licenses:read',
  input: z.object({ query }),
  async check(ports, tenantId, { query: { product } }) {
    if (product !== undefined && !(await ports.findProduct(tenantId, product))) {
      throw new Refusal('product_not_found')
    }
  },
  async describe(ports, tenantId, { query: { format, product, status } }) {
    const found = product === undefined ? undefined : await ports.findProduct(tenantId, product)
    const which = [status, 'licenses'].filter(Boolean).join(' ')
    return {
      summary: `Export ${found ? `the ${which} of ${quoted(found.name)}` : `all ${which}`} as ${names[format]}`,
      // Licenses are minted constantly; a different number needs no warning.
      state: null,
    }
  },
  unrehearsed: true,
  async facts({ db, now }, tenantId, { query: { product, status } }) {
    const filter = { productId: product, status }
    const licenses = await countLicenses(db, tenantId, filter, now().toISOString())
    return [{ what: 'licenses_exported', licenses }]
  },
  async run(ports, tenantId, { query: { format, product, status } }, { id }): Promise<LicenseExport> {
    const now = momentOf(ports)
    const filter = { productId: product, status }
    const bound = await approvalPositionOf(ports, id)
    return { format, now, pages: licensePages(ports, tenantId, filter, now, bound) }
  },
})

/**
 * The position and time of a confirmation's approval in the log: the limit of what its approver could know.
 * @throws Error when it was never approved
 */
async function approvalPositionOf(
  { ledger }: Ports<'ledger'>,
  confirmationId: string,
): Promise<{ position: bigint; at: string }> {
  for await (const entry of ledger.readStream(confirmationStream(confirmationId))) {
    if (entry.readable && entry.event.type === 'ConfirmationApproved') {
      return { position: entry.position, at: entry.event.data.at }
    }
  }
  throw new Error(`${confirmationId} was never approved`)
}
