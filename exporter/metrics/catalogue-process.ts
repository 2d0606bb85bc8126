import type { FamilySpec } from './family-spec.js';

const PROCESS = { source: 'exporter', birth: 'eager', stability: 'stable' } as const;
const GC_SECONDS = [0.001, 0.01, 0.1, 1, 2, 5] as const;

/**
 * Not exported although prom-client makes them: three gauges whose names end in `_total` (`promtool check
 * metrics` refuses them, and their parts by type are exported), and a minimum that shows 292 years when two
 * scrapes come close together.
 */
export const LEFT_OUT_PROCESS_FAMILIES = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_eventloop_lag_min_seconds',
] as const;

/**
 * The process defaults of prom-client on Linux, for docs and lints; names, types, help and labels are its own, and
 * a test compares them. Other systems lack `process_virtual_memory_bytes`, `process_heap_bytes` and the two of
 * file descriptors.
 */
export const PROCESS_FAMILIES: readonly FamilySpec[] = [
  counter('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.'),
  counter('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.'),
  counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.'),
  gauge(
    'process_start_time_seconds',
    'timestamp_seconds',
    'Start time of the process since unix epoch in seconds.',
  ),
  gauge('process_resident_memory_bytes', 'bytes', 'Resident memory size in bytes.'),
  gauge('process_virtual_memory_bytes', 'bytes', 'Virtual memory size in bytes.'),
  gauge('process_heap_bytes', 'bytes', 'Process heap size in bytes.'),
  gauge('process_open_fds', 'count', 'Number of open file descriptors.'),
  gauge('process_max_fds', 'count', 'Maximum number of open file descriptors.'),
  gauge('nodejs_eventloop_lag_seconds', 'seconds', 'Lag of event loop in seconds.'),
  gauge('nodejs_eventloop_lag_max_seconds', 'seconds', 'The maximum recorded event loop delay.'),
  gauge('nodejs_eventloop_lag_mean_seconds', 'seconds', 'The mean of the recorded event loop delays.'),
  gauge(
    'nodejs_eventloop_lag_stddev_seconds',
    'seconds',
    'The standard deviation of the recorded event loop delays.',
  ),
  gauge(
    'nodejs_eventloop_lag_p50_seconds',
    'seconds',
    'The 50th percentile of the recorded event loop delays.',
  ),
  gauge(
    'nodejs_eventloop_lag_p90_seconds',
    'seconds',
    'The 90th percentile of the recorded event loop delays.',
  ),
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'seconds',
    'The 99th percentile of the recorded event loop delays.',
  ),
  gauge(
    'nodejs_active_resources',
    'count',
    'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
    ['type'],
  ),
  gauge(
    'nodejs_active_handles',
    'count',
    'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
    ['type'],
  ),
  gauge(
    'nodejs_active_requests',
    'count',
    'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
    ['type'],
  ),
  gauge('nodejs_heap_size_total_bytes', 'bytes', 'Process heap size from Node.js in bytes.'),
  gauge('nodejs_heap_size_used_bytes', 'bytes', 'Process heap size used from Node.js in bytes.'),
  gauge('nodejs_external_memory_bytes', 'bytes', 'Node.js external memory size in bytes.'),
  gauge(
    'nodejs_heap_space_size_total_bytes',
    'bytes',
    'Process heap space size total from Node.js in bytes.',
    ['space'],
  ),
  gauge('nodejs_heap_space_size_used_bytes', 'bytes', 'Process heap space size used from Node.js in bytes.', [
    'space',
  ]),
  gauge(
    'nodejs_heap_space_size_available_bytes',
    'bytes',
    'Process heap space size available from Node.js in bytes.',
    ['space'],
  ),
  gauge('nodejs_version_info', 'info', 'Node.js version info.', ['version', 'major', 'minor', 'patch']),
  {
    ...PROCESS,
    name: 'nodejs_gc_duration_seconds',
    type: 'histogram',
    unit: 'seconds',
    labels: ['kind'],
    buckets: GC_SECONDS,
    help: 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
  },
];

function counter(name: string, help: string): FamilySpec {
  return { ...PROCESS, name, help, type: 'counter', unit: 'seconds', labels: [] };
}

function gauge(
  name: string,
  unit: FamilySpec['unit'],
  help: string,
  labels: readonly string[] = [],
): FamilySpec {
  return { ...PROCESS, name, help, type: 'gauge', unit, labels };
}
