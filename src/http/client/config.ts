import { z } from 'zod'
import { answer } from '../schemas.ts'
import type { ZodApp } from '../zod-app.ts'
import { clientIn } from './admit.ts'
import { answerPreflight } from './edge.ts'
import { clientErrors, clientPlace, settingsShape } from './schemas.ts'
import { settingsOf } from './settings.ts'

const path = '/:tenantId/:productId/config'

/** The settings alone, for an app that has nothing else to ask. */
export function configRoute(app: ZodApp): void {
  answerPreflight(app, path)
  app.get(
    path,
    {
      config: { client: 'config' },
      schema: {
        operationId: 'getClientConfig',
        tags: ['Client'],
        summary: "The product's settings, signed once a trial length is configured",
        params: clientPlace,
        response: { 200: answer('The settings', z.object(settingsShape)), ...clientErrors() },
      },
    },
    async (request) => settingsOf(clientIn(request)),
  )
}
