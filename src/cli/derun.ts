#!/usr/bin/env node
import { main } from './main.ts';

main('derun', process.argv.slice(2));
