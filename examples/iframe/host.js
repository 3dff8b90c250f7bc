// Lets the page of the service in the frame use the wallet of this page, for what it can prove.
import { openFrame } from '@openearn/widget/host'

const frame = document.querySelector('#earn')
const trust = await (await fetch('trust.json')).json()

openFrame(frame, {
  provider: window.ethereum,
  trust,
  distributorId: frame.dataset.distributor,
  onEvent: ({ kind, status }) => {
    document.querySelector('[role=status]').textContent = `${kind}: ${status}`
  },
})
