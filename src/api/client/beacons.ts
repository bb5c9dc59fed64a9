import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { createBeaconReceiver } from '../../commands/devices/beacons.ts'
import { momentOf } from '../../commands/origin.ts'
import { type InstallState, installStates } from '../../domain/trials/trial.ts'
import { answer, errorBody, errorsWith, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import type { ClientLimits } from './limits.ts'
import type { ClientPorts } from './ports.ts'
import {
  asItStands,
  clientPlace,
  machineHash,
  settingsShape,
  type TelemetryIn,
  telemetryFrom,
  telemetryShape,
  withLimits,
} from './schemas.ts'
import { settingsOf } from './settings.ts'

const freeTierIn = z.object({
  instance_id: text(128).meta({
    description: 'A stable anonymous id of the install',
    example: '2f6d1c1e-8a44-4a6c-9a0e-6a2f9b0c7d11',
  }),
  ...telemetryShape,
})

const keylessIn = freeTierIn.extend({
  state: z.enum(installStates).default('free_tier').meta({
    description: '`trial` while the trial runs, `expired` once it has ended without a free tier',
    example: 'trial',
  }),
  machine_hash: machineHash.optional(),
})

const keylessOut = z.object({
  received: z.literal(true),
  ...settingsShape,
  trial_started_at: z.int().optional().meta({
    example: 1_795_253_400,
    description:
      'Unix seconds when this device first started a trial of the product; never changes. Absent means unknown: keep the value you have',
  }),
  trial_already_used: z.boolean().optional().meta({
    example: false,
    description: 'Whether this device used a trial that has ended. Absent means unknown',
  }),
})

/** Reports of installations without a license. They return 403 only for a closed tenant. */
export function beaconRoutes(app: ZodApp, ports: ClientPorts, { creating }: ClientLimits): void {
  const report = createBeaconReceiver(ports, {
    admitNew: creating,
    onShared: ({ tenantId, productId, machine, installs }) =>
      app.log.warn({ tenant: tenantId, product: productId, machine, installs }, 'trial.shared_machine'),
    onFailure: (err) => app.log.warn({ err }, 'trial.lookup_failed'),
  })
  const beaconOf = (
    request: FastifyRequest,
    reported: TelemetryIn & { instance_id: string; machine_hash?: string | undefined },
    state: InstallState,
  ) => {
    const { tenantId, productId, product } = clientIn(request)
    return {
      tenantId,
      productId,
      instanceId: reported.instance_id,
      state,
      machineHash: reported.machine_hash,
      telemetry: telemetryFrom(reported),
      trialDays: product.trialDurationDays,
    }
  }

  const freeTier = '/:tenantId/:productId/free-tier'
  answerPreflight(app, freeTier)
  app.post(
    freeTier,
    {
      config: { client: 'free-tier', noDryRun: 'it only counts the install' },
      schema: {
        operationId: 'reportFreeTier',
        tags: ['Client'],
        summary: 'Report that an install without a license is in use',
        description: 'Counts the install, and returns nothing else: use `keyless` to get the settings too.',
        params: clientPlace,
        body: freeTierIn,
        response: {
          200: answer('The report was counted', z.object({ received: z.literal(true) })),
          ...withLimits(errorsWith(errorBody, 400, 401, 403, 404)),
        },
      },
    },
    async (request) => {
      await report(beaconOf(request, request.body, 'free_tier'), clientOriginOf(request))
      return { received: true as const }
    },
  )

  const keyless = '/:tenantId/:productId/keyless'
  answerPreflight(app, keyless)
  app.post(
    keyless,
    {
      config: { client: 'keyless', noDryRun: 'it counts the install, and its answer is the same each time' },
      ...asItStands,
      schema: {
        operationId: 'reportKeyless',
        tags: ['Client'],
        summary: 'Report that an install without a license is on trial, on the free tier, or past its trial',
        description:
          'Returns the settings, and the trial of the machine whose `machine_hash` is sent, if known.',
        params: clientPlace,
        body: keylessIn,
        response: {
          200: answer('The settings, and the trial if known', keylessOut),
          ...withLimits(errorsWith(errorBody, 400, 401, 403, 404)),
        },
      },
    },
    async (request) => {
      const beacon = beaconOf(request, request.body, request.body.state)
      const origin = clientOriginOf(request)
      const asking = { client: clientIn(request), origin, log: request.log }
      const [trial, settings] = await Promise.all([
        report(beacon, origin),
        settingsOf(ports, asking, momentOf(ports)),
      ])
      return {
        received: true as const,
        ...settings,
        ...(trial && { trial_started_at: trial.startedAt, trial_already_used: trial.alreadyUsed }),
      }
    },
  )
}
