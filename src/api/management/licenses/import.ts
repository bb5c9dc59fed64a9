import { z } from 'zod'
import type { ImportPorts } from '../../../commands/licenses/import.ts'
import { type Imported, importLicenses } from '../../../commands/licenses/import.ts'
import { Slug } from '../../../domain/values.ts'
import { type Fact, mostNames } from '../../../gate/effects/effect.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { importRowIn, importRowOf } from '../../../http/licenses/import-row.ts'
import { problemOfRefusal } from '../../../http/problem.ts'
import { answer, errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { refuseAllButPost } from '../../../http/wrong-method.ts'
import type { Ports } from '../../../ports.ts'
import { requireProduct } from '../products/products.ts'
import { receiptUrl, receiptUrlOut } from './schemas.ts'

const path = '/v1/licenses/import'

/** Enough for 1,000 rows with all fields. */
const maxBytes = 8 * 1_048_576
const mostFields = 400_000

/**
 * Documented as rows but accepted as anything: each row is validated alone, so that one invalid row does not reject
 * the others.
 */
const anyRow = z.unknown().meta({
  override: ({ jsonSchema }) => {
    Object.assign(jsonSchema, z.toJSONSchema(importRowIn, { io: 'input', target: 'draft-2020-12' }))
    Reflect.deleteProperty(jsonSchema, '$schema')
  },
})

const importIn = z
  .strictObject({
    productId: Slug,
    licenses: z.array(anyRow).max(1000).meta({ description: 'The licenses to import, one a row' }),
  })
  .meta({
    example: {
      productId: 'editor',
      licenses: [{ licenseKey: 'OLD-4711-XKCD-2049', email: 'grace@example.com' }],
    },
  })

const importOut = z.object({
  imported: z.int().meta({ description: 'How many licenses were created', example: 1 }),
  skipped: z.int().meta({ description: 'Duplicates and invalid rows', example: 0 }),
  results: z
    .array(
      z.object({
        index: z.int().meta({ description: 'The index of the row, from 0', example: 0 }),
        status: z.enum(['imported', 'duplicate', 'invalid']).meta({
          description:
            '`duplicate`: a license of the tenant has the key, or once had it; nothing was imported',
          example: 'imported',
        }),
        id: z.string().optional().meta({
          description: 'The id of the license that has the key; absent for an invalid row',
          example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
        }),
        displayKey: z.string().optional().meta({
          description: 'The key, masked: at most its last quarter; absent for an invalid row',
          example: '…2049',
        }),
        receiptUrl: receiptUrlOut.optional(),
        error: z.string().optional().meta({ description: 'Why the row is invalid; absent for others' }),
      }),
    )
    .meta({ description: 'The outcome of each row, in the order of the request' }),
})

type Result = z.infer<typeof importOut>['results'][number]

export function licenseImportRoutes(
  app: ZodApp,
  ports: ImportPorts & Ports<'findProduct' | 'randomBytes'>,
): void {
  refuseAllButPost(app, path)
  app.post(
    path,
    {
      config: {
        scope: 'licenses:write',
        refusedWhileSuspended: true,
        slowBody: true,
        mostFields,
        dryRun: skippedRows,
      },
      bodyLimit: maxBytes,
      schema: {
        operationId: 'importLicenses',
        tags: ['Licenses'],
        summary: 'Import licenses from another system, at most 1,000 per call',
        description:
          'Rows are independent: an invalid row does not stop the others. A key that any ' +
          'license of the tenant has or once had is a duplicate, so repeating an import imports nothing ' +
          'twice. Rows with more devices than the plan allows are invalid; if no row can be imported for ' +
          'that reason, the call gets 402.',
        body: importIn,
        response: { 200: answer('The outcome of each row', importOut), ...errors(400, 402, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId, plan } = callerIn(request)
      const { productId, licenses } = request.body
      const product = await requireProduct(ports, tenantId, productId)
      const rows = licenses.map(importRowOf)
      const input = { rows: rows.filter((row) => typeof row !== 'string'), plan }
      const own = runPorts(request, ports)
      const outcomes = (await importLicenses(own, product, input, runOriginOf(request))).values()
      const results = rows.map((row, index): Result => {
        if (typeof row === 'string') return { index, status: 'invalid', error: row }
        const { value } = outcomes.next()
        if (!value) throw new Error('every row that was asked about has an outcome')
        return resultOf(app.baseUrl, index, value)
      })
      const imported = results.filter(({ status }) => status === 'imported').length
      return { imported, skipped: results.length - imported, results }
    },
  )
}

/** For a dry run: the rows that would not be imported. */
function skippedRows(answered: unknown): Fact[] {
  const { results } = importOut.parse(answered)
  const duplicate = results.filter(({ status }) => status === 'duplicate').length
  const invalid = results.filter(({ status }) => status === 'invalid')
  if (duplicate + invalid.length === 0) return []
  const first = invalid.slice(0, mostNames).map(({ index, error = '' }) => ({ index, error }))
  return [{ what: 'rows_skipped', duplicate, invalid: invalid.length, first }]
}

function resultOf(baseUrl: string, index: number, outcome: Imported): Result {
  if (outcome.status === 'invalid') {
    return { index, status: 'invalid', error: problemOfRefusal(outcome.refusal).message }
  }
  const { status, licenseId: id, displayKey } = outcome
  return { index, status, id, displayKey, receiptUrl: receiptUrl(baseUrl, id) }
}
