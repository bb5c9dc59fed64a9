import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { findOpenPortal } from '../../../projections/portal.ts'
import {
  activationLifetimeSeconds,
  activationPollSeconds,
  decisionFor,
  openBrowserActivation,
} from '../../access/browser-activations.ts'
import { keyForApp } from '../../commands/licenses/key-for-app.ts'
import { isSecret } from '../../credentials/secret.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errorBody, errorsWith, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { clientIn } from './admit.ts'
import { answerPreflight } from './edge.ts'
import type { ClientPorts } from './ports.ts'
import { clientPlace, withLimits } from './schemas.ts'

const startIn = z.object({
  device_name: text(200).meta({
    description: 'How the person knows the device; shown to them beside the code',
    example: 'ada-laptop',
  }),
})

const startOut = z.object({
  device_code: z.string().meta({
    description: 'Used to poll; keep it secret',
    example: 'kl_dvc_9c2Lq7TzVb4mXw8RkN1sYd6GhJ3pFa5e',
  }),
  user_code: z
    .string()
    .meta({ description: 'Show it in the app, so that the person can compare it', example: 'BDWP-HQZK' }),
  verification_uri: z.string().meta({
    description: 'The page of the portal where a person enters the code',
    example: 'https://licenses.acme.example/portal/acme/activate-app',
  }),
  verification_uri_complete: z.string().meta({
    description: 'The same with the code in it, to open in a browser',
    example: 'https://licenses.acme.example/portal/acme/activate-app?code=BDWP-HQZK',
  }),
  expires_in: z
    .int()
    .meta({ description: 'Seconds until the codes end', example: activationLifetimeSeconds }),
  interval: z.int().meta({ description: 'Seconds between two polls', example: activationPollSeconds }),
})

const pollIn = z.object({
  device_code: text(200).meta({ description: 'The `device_code` that the start returned' }),
})

const pollOut = z.object({
  status: z.enum(['pending', 'chosen', 'denied', 'expired']).meta({
    description:
      '`pending`: poll again; `chosen`: activate with `license_key`; `denied` by the person, or the license cannot be used any more; ' +
      '`expired`: start again',
  }),
  license_key: z.string().optional().meta({
    description: 'The key of the chosen license. Repeating the poll returns it again until the code ends',
    example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
  }),
})

/** An app gets a license without a typed key: a person who has signed in to the portal chooses one of theirs for it. */
export function browserActivationRoutes(app: ZodApp, ports: ClientPorts, baseUrl: string): void {
  const start = '/:tenantId/:productId/browser-activations'
  answerPreflight(app, start)
  app.post(
    start,
    {
      config: { client: 'browser-activations', noDryRun: 'it exists only once its codes are shown' },
      schema: {
        operationId: 'startBrowserActivation',
        tags: ['Client'],
        summary: 'Ask a person to choose a license for this app in the portal',
        description:
          "Open `verification_uri_complete` in the person's browser, show `user_code`, and poll `browser-activations/poll` with `device_code` " +
          'every `interval` seconds. Where the vendor has no portal, the answer is 422: ask for a license key.',
        params: clientPlace,
        body: startIn,
        response: {
          200: answer('The codes', startOut),
          ...withLimits(errorsWith(errorBody, 400, 401, 403, 404, 422)),
        },
      },
    },
    async (request) => {
      const { tenantId, productId } = clientIn(request)
      if (!(await findOpenPortal(ports.db, tenantId)))
        throw new Problem(422, 'invalid_request', 'this vendor has no portal; enter a license key')
      const { deviceCode, userCode } = await openBrowserActivation(
        ports.db,
        ports.fingerprint,
        ports.randomBytes,
        { tenantId, productId, deviceName: request.body.device_name },
        ports.now(),
      )
      const page = `${baseUrl}/portal/${tenantId}/activate-app`
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?code=${userCode}`,
        expires_in: activationLifetimeSeconds,
        interval: activationPollSeconds,
      }
    },
  )

  const poll = `${start}/poll`
  answerPreflight(app, poll)
  app.post(
    poll,
    {
      config: { client: 'poll', noDryRun: 'it changes nothing' },
      schema: {
        operationId: 'pollBrowserActivation',
        tags: ['Client'],
        summary: 'Ask whether a person has chosen a license for this app',
        description: 'No faster than `interval`. An app that has the license key calls `activate` with it.',
        params: clientPlace,
        body: pollIn,
        response: {
          200: answer('What was decided', pollOut),
          ...withLimits(errorsWith(errorBody, 400, 401, 403, 404)),
        },
      },
    },
    async (request) => {
      const { device_code: deviceCode } = request.body
      const client = clientIn(request)
      const decision = isSecret(deviceCode)
        ? await decisionFor(ports.db, client, deviceCode, ports.now())
        : undefined
      if (decision === undefined) return { status: 'expired' as const }
      if (typeof decision === 'string') return { status: decision }
      const [entry, product] = await Promise.all([
        findLicense(ports.db, client.tenantId, decision.licenseId),
        ports.findProduct(client.tenantId, client.productId),
      ])
      const licenseKey = entry && product && (await keyForApp(ports, product, entry.license, decision))
      return licenseKey === undefined
        ? { status: 'denied' as const }
        : { status: 'chosen' as const, license_key: licenseKey }
    },
  )
}
