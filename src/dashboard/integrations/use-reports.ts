import type { FastifyInstance, FastifyRequest } from 'fastify'
import { switchUseReports } from '../../commands/integrations/use-reports.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { amountText } from '../../domain/meters/amount.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type Html, html } from '../../html.ts'
import type { UseReports } from '../../usage/use-reports.ts'
import { sentenceOf } from '../forms/refused.ts'
import { dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { pageRoute } from '../frame/page-route.ts'
import { badge, facts, notice, section, tokenField } from '../frame/parts.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'

const path = '/dashboard/integrations/stripe'

/** What Stripe is told of uses, and the switch of it. */
export function useReportsPart(
  view: View,
  { usesReportedSince: since }: KnownIntegration,
  { behind, unreported, problem }: UseReports,
): Html {
  const isOn = since !== undefined
  return section(
    'Metered use',
    html`<div class="sheet stack">
      ${facts([
        ['Status', isOn ? badge('good', 'reported') : badge('plain', 'not reported')],
        isOn && ['Since', dayOf(since)],
        isOn && ['Meters that wait', String(behind)],
        unreported > 0n && ['Not reported any more', amountText(unreported)],
      ])}
      ${isOn && problem !== null && notice('warn', problem)}
      ${
        view.may('manage_connections') &&
        html`<form method="post" action=${`${path}/use-reports`} class="stack">
          ${tokenField(view.token)}
          <input type="hidden" name="on" value=${String(!isOn)} />
          ${!isOn && html`<p>The key must be able to read subscriptions and to write meter events. What was used before is not reported.</p>`}
          <div><button class="second">${isOn ? 'Stop reporting' : 'Report uses'}</button></div>
        </form>`
      }
    </div>`,
    'What subscribers use is reported to the meters of Stripe, about once a minute. A meter there needs the ID of the meter here as its event name.',
  )
}

export function useReportsForm(app: FastifyInstance, { ports }: PageContext): void {
  const manage = pageRoute({ page: 'manage_connections' })
  app.post(
    '/integrations/stripe/use-reports',
    manage,
    async (request: FastifyRequest<{ Body: { on?: string } }>, reply) => {
      const on = request.body.on === 'true'
      try {
        await switchUseReports(ports, principalOf(request).tenantId, on, originOfMember(request))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return redirectWith(reply, path, { kind: 'wrong', text: sentenceOf(error.code) })
      }
      return redirectWith(reply, path, on ? 'Uses are reported from now on.' : 'Uses are no longer reported.')
    },
  )
}
