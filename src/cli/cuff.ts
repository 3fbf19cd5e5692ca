#!/usr/bin/env node
import { main } from './main.ts';

main('cuff', process.argv.slice(2));
