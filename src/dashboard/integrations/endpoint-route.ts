import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type ConnectedEndpoint, connectWithEndpoint } from '../../commands/integrations/endpoints.ts'
import { isId } from '../../credentials/id.ts'
import { ProviderCredential, providerNames } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import { endpointUrlOf } from '../../payments/addresses.ts'
import { ProviderRefused, ProviderUnavailable, StoreWanted } from '../../payments/errors.ts'
import { type FilledForm, readForm, typedIn, withProblem } from '../forms/filled-form.ts'
import { refusedForm, sentenceOf, sentenceOfProvider } from '../forms/refused.ts'
import { checked, optionalLine } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import type { FlashMessage } from '../session/session.ts'
import { endpointFields } from './endpoint-view.ts'
import { type ProviderRequest, providerOf, providerPage } from './provider-route.ts'

/** A provider may take longer to answer than a page. */
const manage = pageRoute({ page: 'manage_connections', noRequestTimeout: true })

const { key, store, replace } = endpointFields

const EndpointForm = z.object({
  operation: z.string().refine((id) => isId('req', id)),
  [key]: z
    .string()
    .trim()
    .refine(
      (text) => ProviderCredential.safeParse(text).success,
      'Paste the key, without spaces and up to 500 characters.',
    ),
  [store]: optionalLine(100),
  [replace]: checked,
})

/** Creates the endpoint at a provider and connects it, as over the API. */
export function endpointForms(app: FastifyInstance, context: PageContext): void {
  const { ports, baseUrl } = context
  app.post('/integrations/:provider/endpoint', manage, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    if (provider === 'gumroad') throw new Refusal('provider_without_endpoints')
    const { filled, data } = readForm(EndpointForm, request)
    const again = (form: FilledForm) => providerPage(context, request, reply, withoutKey(form))
    if (!data) return again(filled)
    const { tenantId } = principalOf(request)
    const input = {
      tenantId,
      provider,
      apiKey: data[key],
      address: endpointUrlOf(baseUrl, tenantId, provider),
      replace: data[replace],
      store: data[store],
    }
    try {
      const connected = await connectWithEndpoint(ports, input, data.operation, originOfMember(request))
      const message = doneWords(providerNames[provider], connected)
      return redirectWith(reply, `/dashboard/integrations/${provider}`, message)
    } catch (error) {
      return again(withProblemOf(error, filled))
    }
  })
}

/** What was typed is a secret, so it is not shown again. Whether to replace is asked once it matters. */
function withoutKey(form: FilledForm): FilledForm {
  const mustReplace = replace in form.typed || replace in form.problems
  const { [replace]: exists, ...problems } = form.problems
  return {
    typed: {
      [store]: [typedIn(form, store)],
      ...(mustReplace && { [replace]: [typedIn(form, replace)] }),
    },
    problems: exists === undefined ? problems : { ...problems, form: exists },
  }
}

function doneWords(name: string, { endpoint }: ConnectedEndpoint): FlashMessage {
  if (endpoint !== null && endpoint.left > 0) {
    const text = `${name} is connected. An earlier endpoint with this address could not be removed: remove it at ${name}.`
    return { kind: 'wrong', text }
  }
  return {
    kind: 'done',
    text:
      endpoint?.created === false
        ? `${name} is connected, with its existing endpoint.`
        : `${name} is connected, and the endpoint was created there.`,
  }
}

/** What the provider or a rule refused, beside its field. @throws any other error */
function withProblemOf(error: unknown, form: FilledForm): FilledForm {
  if (error instanceof StoreWanted) return withProblem(form, store, sentenceOfProvider(error))
  if (error instanceof ProviderUnavailable) return withProblem(form, 'form', sentenceOfProvider(error))
  if (error instanceof ProviderRefused) return withProblem(form, ...refusedWords(error))
  return refusedForm(error, form, {
    restricted_key_wanted: [key, sentenceOf('restricted_key_wanted')],
    provider_endpoint_exists: [
      replace,
      'The provider already has an endpoint with this address. Its secret cannot be read again, or events are missing. To replace it, check the box and enter the key again.',
    ],
  })
}

function refusedWords(error: ProviderRefused): [field: string, sentence: string] {
  const { reason } = error
  if (reason === 'endpoint') return ['form', sentenceOfProvider(error)]
  if (reason === 'permission') return [key, 'This key lacks one of the permissions that are listed above.']
  return [key, sentenceOfProvider(error)]
}
