import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { type ForeignLicense, importLicenses, previewImport } from '../../commands/licenses/import.ts'
import { boundedJson } from '../../domain/json-bounds.ts'
import { type FileRow, rowsOfFile } from '../../domain/licenses/import-rows.ts'
import { Refusal } from '../../domain/refusal.ts'
import { Slug } from '../../domain/values.ts'
import { importRowOf } from '../../http/licenses/import-row.ts'
import { invalid } from '../../http/problem.ts'
import { type FilledForm, newForm, withProblem } from '../forms/filled-form.ts'
import { refuseSuspended, sentenceOf } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { importFormView, type Problem, previewView, progressView, resultView } from './view.ts'

const Query = z.object({ product: one })
const form = pageRoute({ page: 'change_licenses', query: Query })
const change = pageRoute({ page: 'change_licenses' })
const path = '/import-licenses'

/** The rows of one step, after which the page shows how far the import has come. */
const atOnce = 500

const UploadForm = z.object({ product: z.string().max(100).catch(''), file: z.string().catch('') })

/** What the preview and each step hand on to the next one. */
const StepForm = z.object({
  product: Slug,
  /** The rows that are left: a JSON list of line numbers and rows. */
  rows: z.string().transform((text, context) => {
    const rows = Rows.safeParse(jsonOf(text))
    if (rows.success) return rows.data
    context.addIssue({ code: 'custom', message: 'no rows' })
    return z.NEVER
  }),
  total: z.coerce.number().int().min(0),
  imported: z.coerce.number().int().min(0),
  duplicates: z.coerce.number().int().min(0),
  refused: z.coerce.number().int().min(0),
  problems: z.string().transform((text) => Problems.catch([]).parse(jsonOf(text))),
})

const Rows = z.array(z.tuple([z.int(), z.unknown()]))
const Problems = z.array(z.object({ line: z.int(), text: z.string() }))

/** More than a file of the largest size has. */
const jsonOf = (text: string): unknown => boundedJson(text, 1_000_000)

/**
 * Where licenses of another system are imported from a file: first what would happen to each row, then step by step
 * by the command that the API uses too. The browser keeps the rows, so nothing of the file is stored here; a file that
 * is sent again imports nothing twice.
 */
export function importPages(app: FastifyInstance, context: PageContext): void {
  void app.register(async (pages) => {
    readUploads(pages)
    uploadPages(pages, context)
    stepPage(pages, context)
  })
}

function uploadPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: FastifyRequest, reply: FastifyReply, form: FilledForm) => {
    const products = await productChoices(ports, principalOf(request).tenantId)
    return show(reply, {
      title: 'Import licenses',
      nav: 'licenses',
      content: ({ token }) => importFormView(token, products, form),
      form,
    })
  }

  app.get(path, form, async (request, reply) => {
    refuseSuspended(principalOf(request))
    return page(request, reply, newForm({ product: Query.parse(request.query).product ?? '' }))
  })

  app.post(path, change, async (request, reply) => {
    const { tenantId, ...principal } = principalOf(request)
    refuseSuspended(principal)
    const { product: productId, file } = UploadForm.parse(request.body ?? {})
    const form = newForm({ product: productId })
    const product = Slug.safeParse(productId).success
      ? await ports.findProduct(tenantId, productId)
      : undefined
    if (!product) return page(request, reply, withProblem(form, 'product', 'Choose a product.'))
    if (file.trim() === '')
      return page(request, reply, withProblem(form, 'file', 'Choose a file that is not empty.'))
    if (Buffer.byteLength(file) > maxBytes)
      return page(
        request,
        reply,
        withProblem(form, 'file', 'The file is larger than 4 MiB. Divide it into several.'),
      )
    const rows = rowsOfFile(file)
    if (typeof rows === 'string') return page(request, reply, withProblem(form, 'file', rows))
    const preview = await previewed(product, rows)
    return show(reply, {
      title: 'Import licenses',
      nav: 'licenses',
      content: ({ token }) => previewView({ token, product, ...preview }),
    })
  })

  async function previewed(product: PresentProduct, rows: readonly FileRow[]) {
    const read = rows.map((row) => ({ ...row, ...readRow(row) }))
    const known = read.filter((row) => row.license !== undefined)
    const licenses = known.flatMap(({ license }) => license ?? [])
    const outcomes = await previewImport(ports, product, licenses)
    const problems: Problem[] = read.flatMap(({ line, problem }) =>
      problem ? [{ line, text: problem }] : [],
    )
    const fresh: [number, unknown][] = []
    let duplicates = 0
    for (const [index, { line, row }] of known.entries()) {
      const outcome = outcomes[index]
      if (outcome === 'new') fresh.push([line, row])
      else if (outcome === 'duplicate') duplicates++
      else if (typeof outcome === 'number')
        problems.push({ line, text: `The same key as in line ${known[outcome]?.line ?? 0}.` })
      else if (outcome) problems.push({ line, text: sentenceOf(outcome.refusal) })
    }
    return {
      total: rows.length,
      rows: fresh,
      duplicates,
      refused: problems.length,
      problems: byLine(problems),
    }
  }
}

const byLine = (problems: readonly Problem[]): Problem[] =>
  problems.toSorted((one, other) => one.line - other.line)

type ReadRow = { license?: ForeignLicense; row?: unknown; problem?: string }

function readRow(row: FileRow): ReadRow {
  if ('problem' in row) return { problem: row.problem }
  const license = importRowOf(row.row)
  return typeof license === 'string' ? { problem: license } : { license, row: row.row }
}

function stepPage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.post(`${path}/run`, change, async (request, reply) => {
    const { tenantId, plan, ...principal } = principalOf(request)
    refuseSuspended(principal)
    const { success, data } = StepForm.safeParse(request.body)
    if (!success) throw invalid('The form could not be read. Go back, reload the page and try again.')
    const product = await ports.findProduct(tenantId, data.product)
    if (!product) throw new Refusal('product_not_found')
    const now = data.rows.slice(0, atOnce)
    const rest = data.rows.slice(atOnce)
    const step = { ...data, product, rows: rest }
    const refused: Problem[] = []
    const good: { line: number; license: ForeignLicense }[] = []
    for (const [line, row] of now) {
      const license = importRowOf(row)
      if (typeof license === 'string') refused.push({ line, text: license })
      else good.push({ line, license })
    }
    let stopped: string | undefined
    try {
      const input = { rows: good.map(({ license }) => license), plan }
      const outcomes = await importLicenses(ports, product, input, originOfMember(request))
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'invalid')
          refused.push({ line: good[index]?.line ?? 0, text: sentenceOf(outcome.refusal) })
        else if (outcome.status === 'imported') step.imported++
        else step.duplicates++
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      stopped = sentenceOf(error.code)
    }
    step.refused += refused.length
    step.problems = byLine([...step.problems, ...refused])
    return show(reply, {
      title: 'Import licenses',
      nav: 'licenses',
      content: ({ token }) =>
        rest.length > 0 && stopped === undefined
          ? progressView({ token, ...step })
          : resultView({ token, ...step }, stopped),
    })
  })
}

/** Enough for 20,000 licenses, and little enough to be sent back and forth while they are imported. */
const maxBytes = 4 * 1_048_576

/** Reads forms with files: each field as text, and each file as the text that it holds. */
function readUploads(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    // The results so far are sent beside the rows.
    { parseAs: 'buffer', bodyLimit: 2 * maxBytes },
    async (request: { headers: { 'content-type'?: string | undefined } }, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const received = await new Response(Uint8Array.from(body), { headers }).formData().catch(() => {
        throw invalid('The form could not be read. Go back, reload the page and try again.')
      })
      const fields: Record<string, string> = {}
      for (const [name, value] of received)
        fields[name] = typeof value === 'string' ? value : await value.text()
      return fields
    },
  )
}
