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
