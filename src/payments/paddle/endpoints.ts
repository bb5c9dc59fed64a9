import type { IEventName } from '@paddle/paddle-node-sdk'
import { z } from 'zod'
import { endpointName, hasAll, type ProviderEndpoints } from '../endpoints.ts'
import { ask, ProviderRefused, unlessMissing } from '../errors.ts'
import { connect } from './api.ts'

const Destination = z.object({
  id: z.string().min(1),
  description: z.string().nullish(),
  type: z.string(),
  destination: z.string(),
  active: z.boolean(),
  endpointSecretKey: z.string().min(1),
  subscribedEvents: z.array(z.object({ name: z.string() })),
})

/** The most that Paddle lists in one response. */
const inList = 200

/** Errors that concern the key; any other refusal concerns what was asked. */
const ofTheKey = ['authentication_missing', 'authentication_malformed', 'invalid_token', 'forbidden']

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/**
 * Notification destinations, as Paddle calls them. Paddle makes the secrets, and shows them again.
 * @see https://developer.paddle.com/api-reference/notification-settings/create-notification-setting
 */
export function paddleEndpoints(apiUrl: string, apiKey: string, timeLimitMs: number): ProviderEndpoints {
  type Paddle = Awaited<ReturnType<typeof connect>>['paddle']
  async function call<T>(
    work: (paddle: Paddle) => Promise<T>,
    refused: ProviderRefused['reason'],
  ): Promise<T> {
    const { paddle, errorOf } = await connect(apiUrl, apiKey)
    return ask(
      'paddle',
      timeLimitMs,
      () => work(paddle),
      (error) => {
        const translated = errorOf(error)
        const isOther = translated instanceof ProviderRefused && !ofTheKey.includes(codeOf(error))
        return isOther ? new ProviderRefused('paddle', refused) : translated
      },
    )
  }

  return {
    async find(address, events) {
      const listed = await call(
        async (paddle) =>
          z.array(Destination).parse(await paddle.notificationSettings.list({ perPage: inList })),
        'request',
      )
      return listed
        .filter(({ type, destination }) => type === 'url' && destination === address)
        .map(({ id, description, active, endpointSecretKey: secret, subscribedEvents }) => ({
          id,
          secret,
          isNamedSo: description === endpointName,
          isComplete:
            active &&
            hasAll(
              subscribedEvents.map(({ name }) => name),
              events,
            ),
        }))
    },
    async create({ address, events }) {
      const made = await call(
        async (paddle) =>
          Destination.parse(
            await paddle.notificationSettings.create({
              description: endpointName,
              type: 'url',
              destination: address,
              subscribedEvents: [...events] as IEventName[],
            }),
          ),
        'endpoint',
      )
      return { id: made.id, secret: made.endpointSecretKey }
    },
    async remove(id) {
      await call((paddle) => paddle.notificationSettings.delete(id), 'missing').catch(unlessMissing)
    },
  }
}
