/** @see https://developer.paddle.com/api-reference/customers/get-customer */
export const paddleCustomer = (id: string) => ({
  id,
  status: 'active',
  custom_data: null,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  marketing_consent: false,
  locale: 'en',
  created_at: '2026-02-01T12:00:00.000Z',
  updated_at: '2026-02-01T12:00:00.000Z',
  import_meta: null,
})

/** @see https://developer.paddle.com/api-reference/event-types/list-event-types */
export const paddleEventTypes = [
  {
    name: 'transaction.billed',
    description: 'Occurs when a transaction is billed.',
    group: 'Transaction',
    available_versions: [1],
  },
]
