import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { openOverrides, replaceOverrides } from '../../commands/customers/overrides.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { EntitlementOverride } from '../../domain/customers/overrides.ts'
import { sameJson } from '../../domain/equality.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import {
  changedMeanwhile,
  type FilledForm,
  isWrong,
  readForm,
  typedIn,
  withProblem,
} from '../forms/filled-form.ts'
import { pageRoute } from '../frame/page-route.ts'
import { productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type CustomerRequest, customerFormPage, customerOf } from './choose.ts'
import { overridesForm, overridesTyped, overridesView, withMoreRows } from './overrides-view.ts'

const change = pageRoute({ page: 'change_licenses' })

/** Rows have fields of their own names, so the form is read as it is. */
const AnyForm = z.looseObject({})

const seenHashOf = (overrides: readonly EntitlementOverride[]): string => sha256(JSON.stringify(overrides))

const problems: Partial<Record<RefusalCode, string>> = {
  product_not_found: 'A product was not found. Choose another.',
  override_values_differ:
    'Two rows grant the same entitlement with different values, for the same product and until the same day. Keep one of them.',
}

/** Where the entitlement overrides of a customer are replaced as a whole. */
export function overridePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = async (request: FastifyRequest, reply: FastifyReply, customerId: string, form: FilledForm) => {
    const products = await productChoices(ports, principalOf(request).tenantId)
    return show(reply, {
      title: 'Entitlement overrides',
      nav: 'customers',
      trail: aboveIn(customerId),
      content: ({ token }) => overridesView({ token, customerId, products, form }),
      form,
    })
  }

  app.get('/customers/:id/entitlements', customerFormPage, async (request: CustomerRequest, reply) => {
    const { tenantId, customerId, overrides } = (await customerOf(ports, request)).customer
    const [shown = []] = await openOverrides(ports, tenantId, [overrides])
    return page(request, reply, customerId, overridesForm(shown, seenHashOf(overrides)))
  })

  app.post('/customers/:id/entitlements', change, async (request: CustomerRequest, reply) => {
    const { tenantId, customerId, overrides: present } = (await customerOf(ports, request)).customer
    const { filled } = readForm(AnyForm, request)
    if (typedIn(filled, 'more') === 'yes') return page(request, reply, customerId, withMoreRows(filled))
    const { form, overrides } = overridesTyped(filled)
    if (isWrong(form)) return page(request, reply, customerId, form)
    const now = seenHashOf(present)
    const [shown = []] = await openOverrides(ports, tenantId, [present])
    if (typedIn(filled, 'seen') !== now && !sameJson(overrides, shown)) {
      return page(request, reply, customerId, changedMeanwhile(form, 'The overrides were', now))
    }
    try {
      await replaceOverrides(ports, tenantId, customerId, overrides, originOfMember(request))
    } catch (error) {
      const problem = error instanceof Refusal ? problems[error.code] : undefined
      if (problem === undefined) throw error
      return page(request, reply, customerId, withProblem(form, 'form', problem))
    }
    return redirectWith(reply, `/dashboard/customers/${customerId}`, 'Overrides saved.')
  })
}
