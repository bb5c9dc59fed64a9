import { webhookUrlOf } from '../addresses.ts'
import { json, type SigningProvider } from '../payment-provider.ts'
import { hmac, secondsOf } from '../signature.ts'
import { checkApiKey, isSandboxKey, listPrices, readCustomer } from './api.ts'
import { paddleEndpoints } from './endpoints.ts'
import { invoicePage } from './invoice-page.ts'
import { translatePaddle, verifyPaddle } from './notification.ts'

export const paddle: SigningProvider = {
  events: [
    'transaction.completed',
    'transaction.payment_failed',
    'transaction.past_due',
    'adjustment.created',
    'adjustment.updated',
    'subscription.updated',
    'subscription.paused',
    'subscription.resumed',
    'subscription.canceled',
  ],
  receiving: {
    operationId: 'receivePaddleNotification',
    summary: 'Receive a notification from Paddle',
    vouches: 'Authenticated by the header `Paddle-Signature`',
  },
  isSigned: ({ raw, header }, secret, now) => verifyPaddle(raw, header('paddle-signature'), secret, now),
  translate: ({ raw }, { apiUrl, apiKey, timeLimitMs, isMapped }) =>
    translatePaddle(raw.toString('utf8'), {
      test: apiKey !== undefined && isSandboxKey(apiKey),
      isMapped,
      readCustomer: apiKey === undefined ? undefined : (id) => readCustomer(apiUrl, apiKey, id, timeLimitMs),
    }),
  testNotification({ tenantId, saleId, soldAs, email }, secret, now) {
    const body = JSON.stringify({
      event_id: `evt_${saleId}`,
      event_type: 'transaction.completed',
      occurred_at: now.toISOString(),
      notification_id: `ntf_${saleId}`,
      data: {
        id: saleId,
        origin: 'web',
        currency_code: 'USD',
        custom_data: { customer_email: email },
        items: [{ price: { id: soldAs }, quantity: 1 }],
        details: { totals: { grand_total: '0' } },
      },
    })
    const at = secondsOf(now)
    const signature = `ts=${at};h1=${hmac(secret, `${at}:${body}`).toString('hex')}`
    const path = webhookUrlOf('', tenantId, 'paddle')
    return { path, headers: { ...json, 'paddle-signature': signature }, body }
  },
  checkApiKey,
  invoicePage,
  listOffered: listPrices,
  endpoints: paddleEndpoints,
}
