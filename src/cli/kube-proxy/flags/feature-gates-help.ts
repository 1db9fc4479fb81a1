import { knownFeatures } from '../../../config/index.ts';

export const FEATURE_GATES_HELP = `Feature gates to switch, as key=value pairs. Those that concern no proxy are accepted. Options are:
${knownFeatures().join('\n')}`;
