import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readFigures } from '../../../projections/insights/figures.ts'
import { momentOf } from '../../commands/origin.ts'
import { csvLine } from '../../http/csv.ts'
import { notFound } from '../../http/problem.ts'
import { pageRoute } from '../frame/page-route.ts'
import { productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { csvTables } from './parts.ts'
import { RangeQuery, rangeOf } from './range.ts'
import { insightsView } from './view.ts'

const member = pageRoute({ page: 'see_insights', query: RangeQuery })

/** Sales, licenses, versions and trials in a range of days, as plots, as tables and as files. */
export function insightPages(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/insights', member, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const range = rangeOf(request.query, momentOf(ports))
    const [figures, products] = await Promise.all([
      readFigures(ports.db, tenantId, range.days, range.today),
      productChoices(ports, tenantId),
    ])
    return show(reply, {
      title: 'Insights',
      nav: 'insights',
      content: (view) => insightsView(view, { range, figures, products }),
      problem: range.problem,
    })
  })

  app.get('/insights/:file', member, async (request, reply) => {
    const table = tableOf(request.params)
    const range = rangeOf(request.query, momentOf(ports))
    const figures = await readFigures(ports.db, principalOf(request).tenantId, range.days, range.today)
    const name = `${table}-${range.days.from}-${range.days.to}.csv`
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(csvTables[table](figures).map(csvLine).join(''))
  })
}

const files = {
  'sales.csv': 'sales',
  'licenses.csv': 'licenses',
  'versions.csv': 'versions',
  'trials.csv': 'trials',
} as const
const Params = z.object({ file: z.enum(['sales.csv', 'licenses.csv', 'versions.csv', 'trials.csv']) })

/** @throws Problem 404 */
function tableOf(params: unknown): keyof typeof csvTables {
  const { success, data } = Params.safeParse(params)
  if (!success) throw notFound('file')
  return files[data.file]
}
