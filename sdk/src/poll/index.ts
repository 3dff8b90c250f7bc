/** Polling that a budget bears: one read of each thing for all parts of a page that show it. */
export { createPoller, type Listener, type Poller, type PollerOptions } from './poller.js'
export { opportunitiesOf, portfolioOf, requestsOf, type Subject } from './subjects.js'
